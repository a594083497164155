//! The memory for incoming frames.

use inband_linux::frames::Batch;

use crate::packet::Packet;
use crate::rings::ProgramClock;

/// The memory for incoming frames, reused for each batch.
#[derive(Debug)]
pub(super) struct Intake {
    /// `None` while its frames are handled.
    pub(super) batch: Option<Batch>,
    /// Space for the frames of one super-packet.
    pub(super) whole: Vec<Packet>,
    /// Packets that bypassed the kernel's stack.
    pub(super) arrived: Vec<Packet>,
    /// The clock of these packets.
    pub(super) clock: ProgramClock,
    /// The number of rounds of reception.
    pub(super) turn: u32,
}

impl Intake {
    pub(super) fn new() -> Self {
        Self {
            batch: Some(Batch::new()),
            whole: Vec::new(),
            arrived: Vec::new(),
            clock: ProgramClock::read(),
            turn: 0,
        }
    }
}
