//! DSCP marks: every value under every mask.

use super::{CodePoints, DscpMark};

#[test]
fn a_mark_that_is_applied_matches_and_one_that_is_removed_does_not() {
    // int-2.1/l4-12, int-2.1/l4-19
    for mask in 1..64_u8 {
        for value in (0..64_u8).filter(|value| value & mask != 0) {
            let mark = DscpMark { value, mask };
            for dscp in 0..64_u8 {
                let (marked, removed) = (mark.applied_to(dscp), mark.removed_from(dscp));
                assert!(mark.matches(marked) && !mark.matches(removed), "{mark:?} and {dscp:#04x}");
                assert_eq!(marked & !mask, dscp & !mask, "bits that are no mark stay");
                assert_eq!(removed & !mask, dscp & !mask, "bits that are no mark stay");
            }
        }
    }
}

#[test]
fn a_mask_of_no_bits_marks_nothing() {
    let mark = DscpMark { value: 0x17, mask: 0 };
    assert!((0..64).all(|dscp| !mark.matches(dscp)));
}

#[test]
fn defaults_are_the_code_points_of_the_documentation() {
    // int-2.1/vxlan-02, int-2.1/geneve-01, int-2.1/gre-06
    let default = CodePoints::default();
    assert_eq!(default.dscp, [DscpMark { value: 0x17, mask: 0x3f }]);
    assert_eq!((default.udp_ports, default.geneve_classes), (&[33122][..], &[0x0103, 0x00ab][..]));
    assert_eq!(
        (default.vxlan_gpe_next_protocols, default.gre_protocols),
        (&[0x82, 0x80, 0x08, 0x05][..], &[0x4569][..])
    );
}
