//! Reader for payloads of version 1.
//!
//! Number of reports, number of hops, the hops one by one, and the rest as JSON up to the end.

mod hops;

use inband_model::{HopColumns, HopRecord};

use self::hops::get_hop;
use super::codec::{Decoded, get_rare};
use super::cursor::Cursor;
use crate::batch::Batch;

/// Reads a batch; `None` if the payload is not one.
pub(super) fn decode(payload: &[u8]) -> Option<Decoded> {
    let mut cursor = Cursor(payload);
    let reports = cursor.number()?;
    let count = usize::try_from(cursor.number()?).ok()?;
    let mut hops = HopColumns::default();
    let mut previous = HopRecord::default();
    for _ in 0..count {
        previous = get_hop(&mut cursor, &previous)?;
        hops.push(&previous);
    }
    Some(get_rare(cursor.0, Batch { hops, reports, ..Batch::default() }))
}
