//! Flows whose packets made others wait in a queue.

mod settings;

pub use self::settings::CulpritSettings;

use super::detector::Elsewhere;

pub(crate) type Settings = CulpritSettings;
/// What is known of a queue is kept by the queue.
pub(crate) type State = Elsewhere<Settings>;
