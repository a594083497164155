//! Numbers are read as written, and others are rejected.

use super::number;

#[test]
fn decimal_and_hexadecimal_are_read() {
    assert_eq!(number::<u16>("33122"), Ok(33122));
    assert_eq!(number::<u16>("0x4569"), Ok(0x4569));
    assert_eq!(number::<u64>("0xaaaaaaaa_bbbbbbbb"), Ok(0xaaaa_aaaa_bbbb_bbbb));
}

#[test]
fn what_is_no_number_or_too_large_is_refused() {
    for text in ["", "0x", "x", "-1", "0x+1", "1e3", "0x10000000000000000"] {
        assert!(number::<u64>(text).is_err(), "{text}");
    }
    assert_eq!(number::<u8>("256"), Err("more than 8 bits".to_owned()));
}
