//! The time to move the headers.

use std::hint::black_box;

use anyhow::{Result, ensure};

use crate::measure::Subject;
use crate::pool::{FRAMES, Pool};

/// Moves the first `length` bytes of each frame by `shift` bytes, as if opening or closing a gap after them.
pub(crate) struct Memmove {
    pool: Pool,
    length: usize,
    shift: isize,
}

impl Memmove {
    /// `shift` below zero moves towards the headroom.
    pub(crate) fn new(frame: &[u8], length: usize, shift: isize) -> Self {
        Self { pool: Pool::new(frame), length, shift }
    }
}

impl Subject for Memmove {
    fn items(&self) -> usize {
        FRAMES
    }

    fn prepare(&mut self) {
        self.pool.restore();
    }

    fn run(&mut self) {
        let start = self.pool.range().start;
        for buffer in self.pool.buffers() {
            // A node reads the length from the packet, so it is hidden from the compiler here too.
            let length = black_box(self.length);
            buffer.copy_within(start..start + length, start.wrapping_add_signed(self.shift));
            black_box(buffer);
        }
    }

    fn verify(&mut self) -> Result<()> {
        let range = self.pool.range();
        let moved = range.start.wrapping_add_signed(self.shift);
        let before = self.pool.pristine()[range.start..range.start + self.length].to_vec();
        let after = self.pool.buffers().all(|buffer| buffer[moved..moved + self.length] == before);
        ensure!(after, "the headers did not arrive");
        Ok(())
    }
}
