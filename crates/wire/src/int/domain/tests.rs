//! Lengths of domain-specific metadata, for every combination of instruction bits.

use std::vec;
use std::vec::Vec;

use crate::words::Words;

use super::{Domain, WELL_KNOWN, find, set_bits};

fn domain(length: u8) -> Domain {
    let mut words = [Words::new(length); 16];
    words[3] = Words::new(0);
    Domain { id: 7, words, source_only: 0xc000, source_inserted: 0x0003 }
}

#[test]
fn bits_are_counted_from_the_most_significant() {
    assert_eq!(set_bits(0x8001).collect::<Vec<_>>(), vec![0, 15]);
    assert_eq!(set_bits(0xffff).collect::<Vec<_>>(), (0..16).collect::<Vec<_>>());
    assert_eq!(set_bits(0).count(), 0);
}

#[test]
fn every_ds_instruction_asks_for_the_words_of_its_bits() {
    // int-2.1/md-17, int-2.1/md-18, int-2.1/mx-16
    let domain = domain(2);
    for bits in 0..=u16::MAX {
        let words = |mask: u16| {
            let defined = bits & mask & !0x1000;
            Some(Words::new(u8::try_from(defined.count_ones() * 2).unwrap()))
        };
        assert_eq!(domain.hop_words(bits), words(0x3fff), "{bits:#06x}");
        assert_eq!(domain.source_only_words(bits), words(0xc000), "{bits:#06x}");
        assert_eq!(domain.source_inserted_words(bits), words(0x0003), "{bits:#06x}");
    }
}

#[test]
fn more_than_255_words_have_no_length() {
    let long = domain(128);
    assert_eq!(long.source_only_words(0x8000), Some(Words::new(128)));
    assert_eq!(long.source_only_words(0xc000), None);
    assert_eq!(domain(127).source_only_words(0xc000), Some(Words::new(254)));
}

#[test]
fn bits_past_the_last_have_no_words() {
    assert_eq!(domain(1).bit_words(15), Words::new(1));
    assert_eq!(domain(1).bit_words(16), Words::new(0));
}

#[test]
fn transparent_security_is_a_source_only_device_id_of_eight_bytes() {
    // int-2.1/md-15: an operator-assigned id, 0x5453.
    let known = find(WELL_KNOWN, 0x5453).unwrap();
    assert_eq!(known.source_only_words(0x8000), Some(Words::new(2)));
    assert_eq!(known.hop_words(0xffff), Some(Words::new(0)));
    assert!(find(WELL_KNOWN, 0).is_none(), "the default domain defines nothing");
}
