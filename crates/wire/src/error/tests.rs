//! Display of errors.

use std::string::ToString;

use crate::words::Words;

use super::{ErrorKind, Header, ParseError};

#[test]
fn every_kind_of_error_is_a_sentence_that_names_header_and_byte() {
    let sentence = |header, kind| ParseError::new(54, header, kind).to_string();
    let kinds = [
        (ErrorKind::Short { needed: 12, left: 7 }, "12 bytes needed, 7 left"),
        (ErrorKind::Short { needed: 1, left: 0 }, "1 byte needed, 0 left"),
        (ErrorKind::Version { found: 1, expected: 2 }, "version 1 where 2 is expected"),
        (ErrorKind::TooSmall { field: "Length", found: 2, least: 3 }, "Length 2 is less than 3"),
        (ErrorKind::TooLarge { field: "Length", found: 60, most: 14 }, "Length 60 is more than 14"),
        (
            ErrorKind::Mismatch { field: "Hop ML", found: 2, expected: 3 },
            "Hop ML is 2, the other fields imply 3",
        ),
        (ErrorKind::Undefined { field: "Type", found: 9 }, "Type 9 has no meaning"),
        (
            ErrorKind::PartialHop { stack: Words::new(5), hop_ml: Words::new(2) },
            "5 words are not a whole number of hops of 2 words",
        ),
        (ErrorKind::TooMany { most: 8 }, "more than 8 of them"),
    ];
    for (kind, expected) in kinds {
        assert_eq!(sentence(Header::IntMd, kind), std::format!("INT-MD header at byte 54: {expected}"));
    }
}

#[test]
fn a_shifted_error_names_the_byte_of_the_longer_frame() {
    let error = ParseError::new(8, Header::IndividualReport, ErrorKind::Short { needed: 4, left: 1 });
    assert_eq!(error.shifted(42).to_string(), "individual report at byte 50: 4 bytes needed, 1 left");
}
