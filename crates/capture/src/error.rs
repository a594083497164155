//! Errors of reading a capture file.

use std::io;

use thiserror::Error;

/// Why reading a capture stopped. Records before `at` have been returned.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file could not be read any further.
    #[error("cannot read at byte {at}")]
    Read {
        /// Offset of the failed read, bytes.
        at: u64,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The file is neither pcap nor pcapng.
    #[error("not a pcap or pcapng file: {found}")]
    NotACapture {
        /// What the file seems to be.
        found: &'static str,
    },
    /// The file ends inside a header, block or packet.
    #[error("capture ends inside a {part} at byte {at}: {needed} bytes needed, {left} left")]
    Truncated {
        /// What was being read.
        part: &'static str,
        /// Where it starts.
        at: u64,
        /// Its length, bytes.
        needed: usize,
        /// Bytes that are left.
        left: usize,
    },
    /// A length field exceeds the limit.
    #[error("{part} at byte {at} claims {length} bytes, the limit is {limit}")]
    TooLong {
        /// What was being read.
        part: &'static str,
        /// Where it starts.
        at: u64,
        /// The length field, bytes.
        length: u32,
        /// The maximum accepted, bytes.
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
