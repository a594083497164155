//! Geneve headers with options that do and do not match the base header's length.

use std::vec;
use std::vec::Vec;

use zerocopy::IntoBytes;

use crate::error::{ErrorKind, Header, ParseError};
use crate::words::Words;

use super::{OptionHeader, parse};

/// A base header that announces `words` of options, and the options.
fn geneve(words: u8, options: &[u8]) -> Vec<u8> {
    [&[words, 0, 0x65, 0x58, 0, 0, 7, 0], options].concat()
}

fn option(class: u16, kind: u8, words: u8) -> Vec<u8> {
    let header = OptionHeader::new(class, kind, Words::new(words));
    [header.as_bytes(), &vec![0xa5; usize::from(words) * 4]].concat()
}

#[test]
fn options_of_every_length_are_found_one_after_the_other() {
    // int-2.1/geneve-01, int-2.1/geneve-02
    for words in 0..=31 {
        let bytes = geneve(2 + words, &[option(0x0103, 1, words), option(1, 2, 0)].concat());
        let (_, options, payload) = parse(&bytes, 0).unwrap();
        let found: Vec<_> = options.map(|option| option.unwrap()).collect();
        let first = found[0].header;
        assert_eq!((found[0].at, first.class.get(), first.kind(), first.words()), (8, 0x0103, 1, words));
        assert_eq!((found[1].at, found.len(), payload), (12 + usize::from(words) * 4, 2, bytes.len()));
    }
}

#[test]
fn the_critical_bit_is_no_part_of_the_type() {
    let bytes = geneve(1, &[0x01, 0x03, 0x81, 0]);
    let (_, mut options, _) = parse(&bytes, 0).unwrap();
    assert_eq!(options.next().unwrap().unwrap().header.kind(), 1);
}

#[test]
fn an_option_longer_than_the_base_header_says_is_an_error_and_the_last() {
    // The specification's examples leave the option's own header out of the base length.
    let bytes = geneve(9, &option(0x0103, 1, 9));
    let (_, mut options, payload) = parse(&bytes, 0).unwrap();
    let short = ErrorKind::Short { needed: 40, left: 36 };
    assert_eq!(options.next().unwrap().unwrap_err(), ParseError::new(8, Header::GeneveOption, short));
    assert!(options.next().is_none());
    assert_eq!(payload, 8 + 36);
}

#[test]
fn a_base_header_that_counts_more_than_there_is_is_short() {
    let bytes = geneve(2, &option(1, 1, 0));
    let short = |needed, left| ParseError::new(0, Header::Geneve, ErrorKind::Short { needed, left });
    assert_eq!(parse(&bytes, 0).map(|_| ()), Err(short(16, 12)));
    assert_eq!(parse(&bytes[..7], 0).map(|_| ()), Err(short(8, 7)));
}

#[test]
fn lengths_are_set_without_touching_version_and_reserved_bits() {
    let mut bytes = geneve(0, &[]);
    bytes[0] = 0x40;
    let mut header = *crate::view::view::<super::GeneveHeader>(&bytes, 0, Header::Geneve).unwrap();
    header.set_options_length(252);
    assert_eq!((header.version(), header.options_length(), header.as_bytes()[0]), (1, 252, 0x7f));
    header.set_options_length(usize::MAX);
    assert_eq!(header.options_length(), 252);
    let mut option = OptionHeader::new(0x0103, 1, Words::new(40));
    assert_eq!(option.words(), 31);
    option.set_words(Words::new(3));
    assert_eq!(option.as_bytes(), [0x01, 0x03, 0x01, 0x03]);
    let mut critical = OptionHeader::new(0x0103, 0x81, Words::new(3));
    critical.set_kind(0xf2);
    assert_eq!(critical.as_bytes(), [0x01, 0x03, 0xf2, 0x03]);
}
