//! A hop of a report as JSON: the columns of the table `observations`.

use std::io::Write;

use inband_model::HopRecord;
use inband_model::table::{Cells, OBSERVATIONS};

/// Appends an object with the columns that have a value, after `kind`.
pub(super) fn write(hop: &HopRecord, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"kind\":\"observation\"");
    for column in OBSERVATIONS.columns {
        let start = out.len();
        out.extend_from_slice(b",\"");
        out.extend_from_slice(column.name.as_bytes());
        out.extend_from_slice(b"\":");
        if !write_cell(&column.cells, hop, out) {
            out.truncate(start);
        }
    }
    out.push(b'}');
}

/// Appends a value; false if there is none.
fn write_cell(cells: &Cells<HopRecord>, hop: &HopRecord, out: &mut Vec<u8>) -> bool {
    match cells {
        Cells::Time(of) => write_number(of(hop).0, out),
        Cells::Integer(of) => write_number(of(hop), out),
        Cells::OptionalInteger(of) => of(hop).is_some_and(|number| write_number(number, out)),
        Cells::Flag(of) => {
            out.extend_from_slice(if of(hop) { b"true" } else { b"false" });
            true
        }
        Cells::Word(of) => write_text(of(hop), out),
        Cells::Text(of) => write_text(&of(hop), out),
        Cells::OptionalText(of) => of(hop).is_some_and(|text| write_text(&text, out)),
        Cells::OptionalAddress(of) => of(hop).is_some_and(|address| write_text(&address.to_string(), out)),
    }
}

fn write_number(number: u64, out: &mut Vec<u8>) -> bool {
    // Writing to memory does not fail.
    write!(out, "{number}").is_ok()
}

fn write_text(text: &str, out: &mut Vec<u8>) -> bool {
    serde_json::to_writer(out, text).is_ok()
}
