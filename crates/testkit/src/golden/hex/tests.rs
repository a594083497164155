//! Round trips of the text format.

use proptest::collection::vec;
use proptest::prelude::{any, proptest};
use proptest::prop_assert_eq;

use super::{Capture, Packet};
use crate::golden::pcap;

#[test]
fn comments_times_and_bytes_are_read() {
    let text = "# two packets\n@ 5.25\n0102 03 # the end\n\n\nff\n# more of it\nee\n";
    let packets = [(5_250_000_000, vec![1, 2, 3]), (6_250_000_000, vec![0xff, 0xee])];
    let packets = packets.map(|(captured_at_ns, bytes)| Packet { captured_at_ns, bytes }).to_vec();
    assert_eq!(Capture::parse(text), Ok(Capture { link_type: 1, packets }));
    assert_eq!(Capture::parse("link 101\n").unwrap().link_type, 101);
}

#[test]
fn a_line_that_is_nothing_of_the_kind_is_an_error() {
    for text in ["xyz", "123", "@ x", "@ 1.1234567890", "link x"] {
        assert!(Capture::parse(text).unwrap_err().starts_with("line 1 "), "{text}");
    }
}

proptest! {
    #[test]
    fn text_and_pcap_give_back_the_packets(
        link_type in 0..300_u32,
        packets in vec((0..4_000_000_000_000_000_000_u64, vec(any::<u8>(), 1..90)), 0..4),
    ) {
        let packets = packets.into_iter().map(|(captured_at_ns, bytes)| Packet { captured_at_ns, bytes });
        let capture = Capture { link_type, packets: packets.collect() };
        prop_assert_eq!(Capture::parse(&capture.to_string()), Ok(capture.clone()));
        prop_assert_eq!(pcap::read(&pcap::write(&capture)), Ok(capture));
    }
}
