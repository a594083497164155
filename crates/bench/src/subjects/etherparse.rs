//! The time of another library to parse the packet.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use etherparse::{SlicedPacket, TransportSlice};

use crate::measure::Subject;
use crate::pool::{FRAMES, Pool};

/// Parses each frame with `etherparse`, Ethernet to TCP; INT is payload to it.
pub(crate) struct Etherparse {
    pool: Pool,
}

impl Etherparse {
    pub(crate) fn new(frame: &[u8]) -> Self {
        Self { pool: Pool::new(frame) }
    }
}

impl Subject for Etherparse {
    fn items(&self) -> usize {
        FRAMES
    }

    fn prepare(&mut self) {
        self.pool.restore();
    }

    fn run(&mut self) {
        let range = self.pool.range();
        for buffer in self.pool.buffers() {
            let _ = black_box(SlicedPacket::from_ethernet(black_box(&buffer[range.clone()])));
        }
    }

    fn verify(&mut self) -> Result<()> {
        let range = self.pool.range();
        let buffer = self.pool.buffers().next().context("the pool holds frames")?;
        let packet = SlicedPacket::from_ethernet(&buffer[range])?;
        ensure!(matches!(packet.transport, Some(TransportSlice::Tcp(_))), "no TCP header was found");
        Ok(())
    }
}
