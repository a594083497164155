#![allow(clippy::unwrap_used, reason = "these are tests")]

use proptest::prelude::*;

use super::{BtfError, enumerators};

/// BTF of these types, each its three words and the bytes behind them, and of these strings.
fn btf(types: &[&[u32]], strings: &[u8]) -> Vec<u8> {
    let types: Vec<u8> = types.concat().iter().flat_map(|word| word.to_ne_bytes()).collect();
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap();
    let mut bytes = 0xeb9f_u16.to_ne_bytes().to_vec();
    bytes.extend([1, 0]);
    for word in [24, 0, length(&types), length(&types), length(strings)] {
        bytes.extend(word.to_ne_bytes());
    }
    [bytes, types, strings.to_vec()].concat()
}

const STRINGS: &[u8] = b"\0colour\0RED\0BLUE\0other\0";

fn colours() -> Vec<u8> {
    let int: &[u32] = &[0, 1 << 24, 4, 0];
    let other: &[u32] = &[17, 6 << 24 | 1, 4, 8, 9];
    let structure: &[u32] = &[1, 4 << 24 | 1, 4, 0, 1, 0];
    let colour: &[u32] = &[1, 6 << 24 | 2, 4, 8, 0, 12, 7];
    btf(&[int, other, structure, colour], STRINGS)
}

#[test]
fn an_enumeration_is_found_behind_types_of_every_length() {
    assert_eq!(enumerators(&colours(), "colour").unwrap(), [("RED".to_owned(), 0), ("BLUE".to_owned(), 7)]);
    assert_eq!(enumerators(&colours(), "other").unwrap(), [("RED".to_owned(), 9)]);
    assert_eq!(enumerators(&colours(), "taste"), Err(BtfError::NoEnum("taste")));
}

#[test]
fn bytes_of_another_kind_or_byte_order_are_refused() {
    assert_eq!(enumerators(b"\x7fELF", "colour"), Err(BtfError::NotBtf));
    let mut swapped = colours();
    swapped.swap(0, 1);
    assert_eq!(enumerators(&swapped, "colour"), Err(BtfError::NotBtf));
    let unknown = btf(&[&[0, 30 << 24, 0]], STRINGS);
    assert_eq!(enumerators(&unknown, "colour"), Err(BtfError::UnknownKind { at: 24, kind: 30 }));
}

#[test]
fn every_cut_is_an_error() {
    let whole = colours();
    for length in 0..whole.len() {
        assert!(enumerators(&whole[..length], "colour").is_err(), "{length} bytes");
    }
    assert_eq!(enumerators(&[], "colour"), Err(BtfError::Cut { at: 0, wanted: 2, left: 0 }));
}

#[test]
fn types_of_every_kind_have_the_length_the_kernel_gives_them() {
    let trailers: [(u32, usize); 19] = [
        (1, 1),
        (2, 0),
        (3, 3),
        (4, 6),
        (5, 6),
        (6, 4),
        (7, 0),
        (8, 0),
        (9, 0),
        (10, 0),
        (11, 0),
        (12, 0),
        (13, 4),
        (14, 1),
        (15, 6),
        (16, 0),
        (17, 1),
        (18, 0),
        (19, 6),
    ];
    for (kind, words) in trailers {
        let first = [vec![0, kind << 24 | 2, 0], vec![0xa5a5_a5a5; words]].concat();
        let first = if kind == 6 { vec![0, kind << 24 | 2, 0, 0, 0, 0, 0] } else { first };
        let bytes = btf(&[&first, &[1, 6 << 24 | 1, 4, 8, 3]], STRINGS);
        assert_eq!(enumerators(&bytes, "colour").unwrap(), [("RED".to_owned(), 3)], "kind {kind}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..200),
        changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..4),
    ) {
        let _ = enumerators(&bytes, "colour");
        bytes = colours();
        for (at, value) in changes {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        let _ = enumerators(&bytes, "colour");
    }
}
