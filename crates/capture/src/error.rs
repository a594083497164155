//! What can be wrong with a capture file, and where?

use std::io;

use thiserror::Error;

/// Why reading a capture stopped. Records before `at` have been delivered.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file could not be read any further.
    #[error("cannot read at byte {at}")]
    Read {
        /// Bytes read before.
        at: u64,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The first bytes are those of neither pcap nor pcapng.
    #[error("not a pcap or pcapng file: {found}")]
    NotACapture {
        /// What the file seems to be.
        found: &'static str,
    },
    /// The file ends inside something.
    #[error("capture ends inside a {part} at byte {at}: {needed} bytes needed, {left} left")]
    Truncated {
        /// What was being read.
        part: &'static str,
        /// Where it starts.
        at: u64,
        /// Its length, bytes.
        needed: usize,
        /// Bytes that were there.
        left: usize,
    },
    /// A length field claims more than any honest file holds.
    #[error("{part} at byte {at} claims {length} bytes, the limit is {limit}")]
    TooLong {
        /// What was being read.
        part: &'static str,
        /// Where it starts.
        at: u64,
        /// What the length field says, bytes.
        length: u32,
        /// What is accepted, bytes.
        limit: u32,
    },
    /// A header contradicts itself or the file before it.
    #[error("{part} at byte {at}: {what}")]
    Malformed {
        /// What was being read.
        part: &'static str,
        /// Where it starts.
        at: u64,
        /// What is wrong.
        what: String,
    },
}
