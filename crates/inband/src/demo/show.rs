//! What displays a run of the demo, and what it receives.

use std::io;
use std::time::Duration;

use inband_collector::Output;

use super::monitor::Monitor;
use super::scenario::Scenario;

/// A display of the running demo.
pub(super) trait Show {
    /// The collector observed or announced something.
    fn output(&mut self, output: &Output, elapsed: Duration) -> io::Result<()>;
    /// Time has passed.
    fn tick(&mut self, progress: &Progress<'_>) -> io::Result<()>;
    /// The run has ended.
    fn finish(&mut self, progress: &Progress<'_>) -> io::Result<()>;
}

/// The state of the demo.
pub(super) struct Progress<'a> {
    pub(super) elapsed: Duration,
    /// How long the demo runs; `None`: until it is stopped.
    pub(super) duration: Option<Duration>,
    pub(super) scenario: &'a Scenario,
    pub(super) monitor: &'a Monitor,
    /// Reports the nodes have sent.
    pub(super) sent: u64,
}
