//! Every field of the fixed header is where the figure has it.

use zerocopy::{FromBytes, IntoBytes};

use super::{FixedHeader, NextProto};

#[test]
fn every_next_proto_is_written_and_read() {
    // report-0.5/header-02
    // host-int-0.5/report-01
    let named =
        [NextProto::Ethernet, NextProto::Drop, NextProto::Local, NextProto::DropSummary, NextProto::Latency];
    for code in 0..16 {
        let header = FixedHeader::new(NextProto::Unknown(code), 0, 0, 0);
        let expected = named.get(usize::from(code)).copied().unwrap_or(NextProto::Unknown(code));
        assert_eq!((header.next_proto(), header.as_bytes()[0]), (expected, code));
        assert_eq!(expected.code(), code);
    }
}

#[test]
fn every_flag_is_its_own_bit_and_hw_id_has_six() {
    // report-0.5/header-01, report-0.5/header-03
    for bits in 0..8_u8 {
        let (dropped, queue, flow) = (bits & 4 != 0, bits & 2 != 0, bits & 1 != 0);
        let mut header = FixedHeader::new(NextProto::Local, 0xff, 0x0102_0304, 0x0506_0708);
        header.set_flags(true, true, true);
        header.set_flags(dropped, queue, flow);
        assert_eq!(header.as_bytes(), [2, bits << 5, 0, 0x3f, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(
            (header.dropped(), header.congested_queue(), header.tracked_flow()),
            (dropped, queue, flow)
        );
        assert_eq!((header.hw_id(), header.sequence(), header.timestamp()), (0x3f, 0x0102_0304, 0x0506_0708));
    }
}

#[test]
fn reserved_bits_are_ignored() {
    // report-0.5/header-04
    let header = FixedHeader::read_from_bytes(&[0x02, 0x3f, 0xff, 0xc5, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    assert_eq!((header.version(), header.next_proto(), header.hw_id()), (0, NextProto::Local, 5));
    assert_eq!((header.dropped(), header.congested_queue(), header.tracked_flow()), (false, false, true));
}
