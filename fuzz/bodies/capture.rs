//! The body of the `capture` target.

use inband_capture::{Interface, Reader, Record, Writer};

/// Reads a capture file, writes its records in the same format, and reads those again.
///
/// # Panics
/// When the records read back differ from those written, or there are more of them than the file has bytes.
pub(crate) fn capture(input: &[u8]) {
    let Ok(mut reader) = Reader::new(input) else { return };
    let (records, interfaces) = read_all(&mut reader);
    assert!(records.len() <= input.len());
    let mut writer = Writer::new(Vec::new(), reader.format()).expect("memory takes everything");
    let mut written = Vec::new();
    for record in records {
        // A time beyond 32 bits of seconds cannot be written to a pcap file.
        if writer.write_record(&record, &interfaces).is_ok() {
            written.push(record);
        }
    }
    let file = writer.finish().expect("memory takes everything");
    let mut again = Reader::new(&file[..]).expect("a capture that was just written");
    let (read, _) = read_all(&mut again);
    assert_eq!(read.len(), written.len());
    for (read, written) in read.iter().zip(&written) {
        assert_eq!(read.data, written.data);
        assert_eq!((read.link_type, read.captured_at_ns), (written.link_type, written.captured_at_ns));
        assert_eq!(read.is_cut(), written.is_cut());
    }
}

fn read_all(reader: &mut Reader<&[u8]>) -> (Vec<Record>, Vec<Interface>) {
    let mut records = Vec::new();
    let mut record = Record::default();
    while let Ok(true) = reader.read_record(&mut record) {
        records.push(record.clone());
    }
    (records, reader.interfaces().to_vec())
}
