//! The position up to which messages are delivered.
//!
//! ```text
//! magic "INBPOS1\n"   id of the spool   number of the next message to deliver   CRC-32 of both    8 + 8 + 8 + 4 bytes
//! ```

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The position, in a file that is overwritten.
#[derive(Debug)]
pub(super) struct Position {
    file: File,
    id: u64,
    delivered: u64,
}

impl Position {
    /// Reads the position, or starts from 0 if there is none: messages are then delivered again, under a
    /// different id.
    pub(super) fn open(path: &Path) -> io::Result<Position> {
        let mut file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
        let mut bytes = Vec::new();
        (&mut file).take(BYTES as u64 + 1).read_to_end(&mut bytes)?;
        let fresh = (RandomState::new().hash_one(path), 0);
        let (id, delivered) = decode(&bytes).unwrap_or(fresh);
        let position = Position { file, id, delivered };
        position.write()?;
        Ok(position)
    }

    pub(super) fn id(&self) -> String {
        format!("{:016x}", self.id)
    }

    /// All messages below this number are delivered.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Advances to this number; never goes back.
    pub(super) fn advance(&mut self, delivered: u64) {
        if delivered > self.delivered {
            self.delivered = delivered;
            // If this fails, delivered messages are delivered again after a crash.
            let _ = self.write();
        }
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn write(&self) -> io::Result<()> {
        self.file.write_all_at(&encode(self.id, self.delivered), 0)
    }
}

fn encode(id: u64, delivered: u64) -> Vec<u8> {
    let body = [id.to_le_bytes(), delivered.to_le_bytes()].concat();
    [&MAGIC[..], &body, &crc32fast::hash(&body).to_le_bytes()].concat()
}

fn decode(bytes: &[u8]) -> Option<(u64, u64)> {
    let body = bytes.strip_prefix(MAGIC)?;
    let (id, rest) = body.split_first_chunk()?;
    let (delivered, checksum) = rest.split_first_chunk()?;
    let is_whole = checksum == crc32fast::hash(&body[..16]).to_le_bytes();
    is_whole.then(|| (u64::from_le_bytes(*id), u64::from_le_bytes(*delivered)))
}

const MAGIC: &[u8; 8] = b"INBPOS1\n";
const BYTES: usize = 28;
