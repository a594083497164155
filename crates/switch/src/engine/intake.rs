//! The memory that frames come in by.

use inband_linux::frames::Batch;

use crate::packet::Packet;

/// The memory that frames come in by, used again for each batch.
#[derive(Debug)]
pub(super) struct Intake {
    /// `None` while its frames are taken in.
    pub(super) batch: Option<Batch>,
    /// Room for the frames of one super-packet.
    pub(super) whole: Vec<Packet>,
}

impl Intake {
    pub(super) fn new() -> Self {
        Self { batch: Some(Batch::new()), whole: Vec::new() }
    }
}
