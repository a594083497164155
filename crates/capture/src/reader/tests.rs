//! Round trips of captures, and hostile input that ends in one clear error.

use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof, proptest};
use proptest::prop_assert_eq;

use super::Reader;
use crate::{
    ByteOrder, CaptureError, Format, Interface, LinkType, RECORD_LIMIT_BYTES, Record, Resolution, Writer,
};

const PCAP: Format = Format::Pcap { order: ByteOrder::Little, resolution: Resolution::Nanoseconds, link: 1 };
const PCAPNG: Format = Format::Pcapng { order: ByteOrder::Little };

fn record(number: u64, captured_at_ns: u64, data: &[u8]) -> Record {
    let original_length = u32::try_from(data.len()).unwrap();
    let link_type = LinkType::ETHERNET;
    Record { number, captured_at_ns, link_type, original_length, data: data.to_vec(), ..Record::default() }
}

fn write(format: Format, interfaces: &[Interface], records: &[Record]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), format).unwrap();
    for record in records {
        writer.write_record(record, interfaces).unwrap();
    }
    writer.finish().unwrap()
}

/// All records, and the error after them.
fn read(file: &[u8]) -> (Vec<Record>, Option<CaptureError>) {
    let mut records = Vec::new();
    let mut reader = match Reader::new(file) {
        Ok(reader) => reader,
        Err(error) => return (records, Some(error)),
    };
    let mut record = Record::default();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => records.push(record.clone()),
            Ok(false) => return (records, None),
            Err(error) => {
                assert!(matches!(reader.read_record(&mut record), Ok(false)), "an error is reported once");
                return (records, Some(error));
            }
        }
    }
}

fn ethernet() -> Vec<Interface> {
    vec![Interface { link_type: LinkType::ETHERNET, ..Interface::default() }]
}

fn orders() -> impl Strategy<Value = ByteOrder> {
    prop_oneof![proptest::prelude::Just(ByteOrder::Little), proptest::prelude::Just(ByteOrder::Big)]
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    let times = 0..=u64::from(u32::MAX) * 1_000_000_000;
    let one = (times, 0..3_usize, any::<u32>(), vec(any::<u8>(), 0..200));
    vec(one, 0..8).prop_map(|all| {
        let numbered = (1..).zip(all);
        numbered
            .map(|(number, (captured_at_ns, interface, original_length, data))| Record {
                interface,
                original_length,
                ..record(number, captured_at_ns, &data)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn pcap_reads_back_as_written(order in orders(), nanoseconds in any::<bool>(), mut all in records()) {
        let resolution = if nanoseconds { Resolution::Nanoseconds } else { Resolution::Microseconds };
        for record in &mut all {
            record.interface = 0;
            if !nanoseconds {
                record.captured_at_ns -= record.captured_at_ns % 1_000;
            }
        }
        // The upper bits announce a frame check sequence; they are kept, but are not part of the link type.
        let format = Format::Pcap { order, resolution, link: 0x2400_0001 };
        let file = write(format, &ethernet(), &all);
        prop_assert_eq!(Reader::new(&file[..]).unwrap().format(), format);
        let (read, error) = read(&file);
        prop_assert_eq!(read, all);
        assert!(error.is_none(), "{error:?}");
    }

    #[test]
    fn pcapng_reads_back_as_written(order in orders(), mut all in records(), name in vec(any::<u8>(), 0..9)) {
        let links = [LinkType::ETHERNET, LinkType::RAW, LinkType(42)];
        let interfaces = links.map(|link_type| Interface {
            link_type,
            name: Some(name.clone()),
            description: None,
        });
        for record in &mut all {
            record.link_type = links[record.interface];
        }
        let file = write(Format::Pcapng { order }, &interfaces, &all);
        let (read, error) = read(&file);
        prop_assert_eq!(read, all);
        assert!(error.is_none(), "{error:?}");
    }

    #[test]
    fn no_input_panics(mut file in vec(any::<u8>(), 0..300), format in 0..6_usize) {
        let starts: [&[u8]; 6] = [
            &[],
            &[0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 4],
            &[0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0],
            &[0x34, 0xcd, 0xb2, 0xa1, 2, 0, 4, 0],
            &write(PCAPNG, &[], &[]),
            &write(PCAPNG, &ethernet(), &[record(1, 0, &[])]),
        ];
        file.splice(..0, starts[format].iter().copied());
        let (all, _) = read(&file);
        assert!(all.len() <= file.len());
    }

    #[test]
    fn one_wrong_byte_never_panics(at in 0..400_usize, value in any::<u8>(), ng in any::<bool>()) {
        let all = [record(1, 5, &[1; 60]), record(2, 6, &[2; 61]), record(3, 7, &[3; 62])];
        let mut file = write(if ng { PCAPNG } else { PCAP }, &ethernet(), &all);
        let index = at % file.len();
        file[index] = value;
        read(&file);
    }
}

#[test]
fn a_packet_without_a_time_stays_without_one() {
    let untimed = Record { is_untimed: true, ..record(1, 0, &[1; 5]) };
    let all = [untimed, record(2, 0, &[2; 8])];
    assert_eq!(read(&write(PCAPNG, &ethernet(), &all)).0, all);
}

#[test]
fn a_file_cut_anywhere_gives_the_whole_records_before_the_cut() {
    let all = [record(1, 1, &[1; 5]), record(2, 2, &[]), record(3, 3, &[3; 8])];
    for format in [PCAP, PCAPNG] {
        let mut ends: Vec<usize> =
            (0..=all.len()).map(|count| write(format, &ethernet(), &all[..count]).len()).collect();
        let file = write(format, &ethernet(), &all);
        // A file that ends after an interface description is complete too.
        let with_interface = write(format, &ethernet(), &[record(1, 0, &[])]).len() - 32;
        if format == PCAPNG {
            ends.push(with_interface);
        }
        for cut in 0..=file.len() {
            let (read, error) = read(&file[..cut]);
            let whole =
                (1..=all.len()).filter(|count| write(format, &ethernet(), &all[..*count]).len() <= cut);
            assert_eq!(read, all[..whole.count()], "{format:?} cut at {cut}");
            assert_eq!(error.is_none(), ends.contains(&cut), "{format:?} cut at {cut}: {error:?}");
        }
    }
}

#[test]
fn a_truncated_record_is_named_with_its_place() {
    let file = write(PCAP, &ethernet(), &[record(1, 1, &[1; 60])]);
    let (_, error) = read(&file[..50]);
    assert_eq!(
        error.unwrap().to_string(),
        "capture ends inside a pcap record at byte 24: 76 bytes needed, 26 left"
    );
}

#[test]
fn lengths_are_not_believed() {
    let mut file = write(PCAP, &ethernet(), &[record(1, 1, &[1; 4]), record(2, 1, &[1; 4])]);
    file[44 + 8..44 + 12].copy_from_slice(&u32::MAX.to_le_bytes());
    let (all, error) = read(&file);
    assert_eq!(all.len(), 1);
    assert_eq!(
        error.unwrap().to_string(),
        "pcap record at byte 44 claims 4294967295 bytes, the limit is 262144"
    );

    let mut file = write(PCAPNG, &ethernet(), &[record(1, 1, &[1; 4])]);
    file[28 + 4..28 + 8].copy_from_slice(&0x7fff_fffc_u32.to_le_bytes());
    assert_eq!(
        read(&file).1.unwrap().to_string(),
        "pcapng block at byte 28 claims 2147483644 bytes, the limit is 16777216"
    );
    // A length within the limit costs no more memory than the bytes that arrive.
    file[28 + 4..28 + 8].copy_from_slice(&0x00ff_fffc_u32.to_le_bytes());
    let mut reader = Reader::new(&file[..]).unwrap();
    assert!(matches!(reader.read_record(&mut Record::default()), Err(CaptureError::Truncated { .. })));
    for length in [0_u32, 4, 11, 13, 35] {
        file[28 + 4..28 + 8].copy_from_slice(&length.to_le_bytes());
        assert!(matches!(read(&file).1, Some(CaptureError::Malformed { .. })), "length {length}");
    }
}

#[test]
fn the_largest_record_is_read_and_one_byte_more_is_not() {
    let limit = usize::try_from(RECORD_LIMIT_BYTES).unwrap();
    for format in [PCAP, PCAPNG] {
        assert_eq!(read(&write(format, &ethernet(), &[record(1, 1, &vec![7; limit])])).0.len(), 1);
        let (all, error) = read(&write(format, &ethernet(), &[record(1, 1, &vec![7; limit + 1])]));
        assert!(all.is_empty());
        assert!(matches!(error, Some(CaptureError::TooLong { length: 262_145, .. })), "{error:?}");
    }
}

#[test]
fn sections_have_their_own_byte_order_and_interfaces() {
    let raw = vec![Interface { link_type: LinkType::RAW, ..Interface::default() }];
    let mut file = write(PCAPNG, &ethernet(), &[record(1, 1, &[1])]);
    file.extend(write(Format::Pcapng { order: ByteOrder::Big }, &raw, &[record(1, 2, &[2])]));
    let mut reader = Reader::new(&file[..]).unwrap();
    let mut record = Record::default();

    assert!(reader.read_record(&mut record).unwrap());
    assert_eq!((record.number, record.interface, record.link_type), (1, 0, LinkType::ETHERNET));
    assert!(reader.read_record(&mut record).unwrap());
    assert_eq!((record.number, record.interface, record.link_type), (2, 1, LinkType::RAW));
    assert_eq!(record.captured_at_ns, 2);
    assert!(!reader.read_record(&mut record).unwrap());
    assert_eq!(reader.format(), PCAPNG);

    // The copy holds both in one section.
    let records = read(&file).0;
    let copy = write(reader.format(), reader.interfaces(), &records);
    assert_eq!(read(&copy).0, records);
}

#[test]
fn blocks_of_other_types_are_passed_over() {
    let mut file = write(PCAPNG, &[], &[]);
    file.extend([0xad, 0x0b, 0, 0x40, 16, 0, 0, 0, 1, 2, 3, 4, 16, 0, 0, 0]);
    file.extend(&write(PCAPNG, &ethernet(), &[record(1, 1, &[9])])[28..]);
    assert_eq!(read(&file).0, [record(1, 1, &[9])]);
}

#[test]
fn the_early_linux_variant_of_pcap_is_read() {
    let mut file = vec![0xa1, 0xb2, 0xcd, 0x34, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
    file.extend([0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 0, 8, 0, 0, 0, 7, 8, 9]);
    assert_eq!(read(&file).0, [record(1, 1_000_002_000, &[7, 8, 9])]);
}

#[test]
fn files_of_other_kinds_are_named() {
    let message = |file: &[u8]| read(file).1.unwrap().to_string();
    assert_eq!(message(&[]), "not a pcap or pcapng file: it is empty");
    assert_eq!(message(&[0xa1, 0xb2]), "not a pcap or pcapng file: it is shorter than any header");
    assert_eq!(message(b"hello"), "not a pcap or pcapng file: its first four bytes are no known magic");
    assert!(message(&[0x1f, 0x8b, 8, 0]).contains("gunzip"));
    let version = [&[0xd4, 0xc3, 0xb2, 0xa1, 7, 0, 1, 0][..], &[0; 16]].concat();
    assert_eq!(message(&version), "pcap file header at byte 0: version 7.1, only 2.x is known");
    let no_magic = [0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 1, 2, 3, 4];
    assert_eq!(message(&no_magic), "pcapng section header at byte 0: 0x01020304 is no byte-order magic");
}

#[test]
fn a_time_past_the_range_of_pcap_is_refused_and_one_at_its_end_is_kept() {
    let mut writer = Writer::new(Vec::new(), PCAP).unwrap();
    let last = u64::from(u32::MAX) * 1_000_000_000 + u64::from(u32::MAX);
    writer.write_record(&record(1, last, &[1]), &[]).unwrap();
    let error = writer.write_record(&record(2, last + 1, &[1]), &[]).unwrap_err();
    assert_eq!(error.to_string(), "the time or length of packet 2 does not fit the format");
    assert_eq!(read(&writer.finish().unwrap()).0, [record(1, last, &[1])]);
}

#[test]
fn replacing_data_moves_the_original_length_by_the_same_amount() {
    let mut cut = Record { original_length: 1500, ..record(1, 1, &[0xa5; 96]) };
    assert!(cut.is_cut());
    cut.replace_data(&[1; 124]);
    assert_eq!((cut.original_length, cut.data.len()), (1528, 124));
    cut.replace_data(&[1; 90]);
    assert_eq!(cut.original_length, 1494);
    let mut hostile = Record { original_length: 3, ..record(1, 1, &[1; 96]) };
    hostile.replace_data(&[]);
    assert_eq!(hostile.original_length, 0);
    hostile.original_length = u32::MAX;
    hostile.replace_data(&[1; 4]);
    assert_eq!(hostile.original_length, u32::MAX);
}
