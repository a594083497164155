//! Reads reports of the versions before 2.0.

use crate::error::{ErrorKind, Header, ParseError};
use crate::layers::Strictness;
use crate::report::Leniency;
use crate::report::earlier::host_int::SinkNodeId;
use crate::report::earlier::report::EarlierReport;
use crate::report::earlier::{read_0_5, read_1_0};

/// Reads the UDP payload `bytes`, whose first four bits are 0 or 1.
///
/// # Errors
/// Headers that are truncated, an undefined version or NProto, a Length that contradicts RepMdBits.
pub fn read(
    bytes: &[u8],
    leniency: Leniency,
    strictness: Strictness,
    sink_node_id: SinkNodeId,
) -> Result<EarlierReport<'_>, ParseError> {
    match bytes.first().map_or(0, |first| first >> 4) {
        0 => read_0_5::read(bytes, strictness, sink_node_id),
        1 => read_1_0::read(bytes, leniency),
        found => {
            let kind = ErrorKind::Version { found, expected: 1 };
            Err(ParseError::new(0, Header::ReportHeader, kind))
        }
    }
}
