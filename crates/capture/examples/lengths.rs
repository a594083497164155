//! Prints number, time and length of each packet of a capture file.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;

use inband_capture::{Reader, Record};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: lengths FILE")?;
    let mut reader = Reader::new(BufReader::new(File::open(path)?))?;
    let mut record = Record::default();
    while reader.read_record(&mut record)? {
        println!("{} {} ns {} bytes", record.number, record.captured_at_ns, record.original_length);
    }
    Ok(())
}
