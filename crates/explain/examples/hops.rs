//! Prints every packet with INT of a capture: `cargo run -p inband-explain --example hops FILE`.

use std::error::Error;
use std::fs::File;

use inband_capture::{Reader, Record, start};
use inband_explain::{Frame, Options, describe};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: hops FILE")?;
    let mut reader = Reader::new(File::open(path)?)?;
    let (mut record, options) = (Record::default(), Options::default());
    while reader.read_record(&mut record)? {
        let Some((link, start)) = start(record.link_type, &record.data) else { continue };
        let frame = Frame { bytes: &record.data, start, link, is_cut: record.is_cut() };
        if let Some(description) = describe(frame, &options) {
            print!("Packet {}\n{description}", record.number);
        }
    }
    Ok(())
}
