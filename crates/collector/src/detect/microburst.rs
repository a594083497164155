//! Microbursts, and storms of them.

mod settings;

pub use self::settings::MicroburstSettings;

use super::detector::Elsewhere;

pub(crate) type Settings = MicroburstSettings;
/// What is known of a queue is kept by the queue.
pub(crate) type State = Elsewhere<Settings>;
