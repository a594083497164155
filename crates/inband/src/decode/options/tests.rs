//! Code points are read as written.

use inband_wire::int::DscpMark;

use super::dscp_mark;

#[test]
fn a_dscp_may_have_a_mask() {
    assert_eq!(dscp_mark("0x17"), Ok(DscpMark { value: 0x17, mask: 0x3f }));
    assert_eq!(dscp_mark("1/1"), Ok(DscpMark { value: 1, mask: 1 }));
    assert_eq!(dscp_mark("0x20/0x20"), Ok(DscpMark { value: 0x20, mask: 0x20 }));
    assert_eq!(dscp_mark("0/0x20"), Ok(DscpMark { value: 0, mask: 0x20 }));
}

#[test]
fn an_impossible_dscp_is_refused() {
    for text in ["64", "1/0", "1/64", "3/1", "", "1/", "/1", "x"] {
        assert!(dscp_mark(text).is_err(), "{text}");
    }
}
