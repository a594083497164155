//! Congestion of queues.

mod settings;

pub use self::settings::CongestionSettings;

use super::detector::Elsewhere;

pub(crate) type Settings = CongestionSettings;
/// What is known of a queue is kept by the queue.
pub(crate) type State = Elsewhere<Settings>;
