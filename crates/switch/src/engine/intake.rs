//! The memory that frames come in by.

use inband_linux::frames::Batch;

use crate::packet::Packet;
use crate::rings::ProgramClock;

/// The memory that frames come in by, used again for each batch.
#[derive(Debug)]
pub(super) struct Intake {
    /// `None` while its frames are taken in.
    pub(super) batch: Option<Batch>,
    /// Room for the frames of one super-packet.
    pub(super) whole: Vec<Packet>,
    /// Packets that came past the kernel's stack.
    pub(super) arrived: Vec<Packet>,
    /// Their clock.
    pub(super) clock: ProgramClock,
    /// How often frames were taken in.
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
