//! Bytes of unknown meaning as pairs of hexadecimal digits.

use std::fmt::Write;

/// Writes `bytes` as digits without spaces.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
