//! The same accessors for every type and version.

use inband_testkit::{int_1_0, int_md, int_mx};

use crate::int::dialect::Deviations;
use crate::int::location::{Encapsulation, HeaderType, Location};
use crate::int::version::Version;
use crate::words::Words;

use super::AnyHeader;

fn parse(bytes: &[u8], header_type: HeaderType, version: Version) -> AnyHeader<'_> {
    let encapsulation = Encapsulation::Dscp;
    let location = Location {
        encapsulation,
        header_type,
        version,
        deviations: Deviations::NONE,
        shim: 0,
        header: 4,
        end: bytes.len(),
    };
    AnyHeader::parse(bytes, &location, &[]).unwrap()
}

#[test]
fn headers_with_a_stack_tell_of_their_hops() {
    let md = int_md().flags(0x06).hop(2).hop(1).bytes();
    let earlier = int_1_0().flags(0x11).mtu_exceeded().hop(2).hop(1).bytes();
    for (bytes, version) in [(md, Version::V2_1), (earlier, Version::V1_0)] {
        let header = parse(&bytes, HeaderType::Md, version);
        let nodes = header.hops().map(|hop| hop.metadata().node_id);
        assert!(nodes.eq([Some(2), Some(1)]), "{version:?}");
        assert_eq!((header.hop_count(), header.hop_ml()), (2, Some(Words::new(2))));
        assert_eq!(header.remaining_hop_count(), Some(6));
        assert_eq!((header.max_hop_count_exceeded(), header.mtu_exceeded()), (Some(true), Some(true)));
    }
}

#[test]
fn headers_without_a_stack_have_no_hops() {
    let mx = int_mx().bytes();
    for header_type in [HeaderType::Mx, HeaderType::Destination] {
        let header = parse(&mx, header_type, Version::V2_1);
        assert_eq!((header.hops().count(), header.hop_count(), header.hop_ml()), (0, 0, None));
        assert_eq!((header.remaining_hop_count(), header.mtu_exceeded()), (None, None));
        assert_eq!(header.max_hop_count_exceeded(), None);
    }
    assert!(matches!(parse(&mx, HeaderType::Destination, Version::V1_0), AnyHeader::Destination(_)));
}
