//! Views at the end of the bytes.

use crate::error::{ErrorKind, Header, ParseError};

use super::{view, view_mut};

#[test]
fn a_view_ends_with_the_bytes_or_is_short() {
    let bytes = [0xa5_u8; 12];
    assert!(view::<[u8; 8]>(&bytes, 4, Header::Udp).is_ok());
    let short = |at, left| Err(ParseError::new(at, Header::Udp, ErrorKind::Short { needed: 8, left }));
    assert_eq!(view::<[u8; 8]>(&bytes, 5, Header::Udp), short(5, 7));
    assert_eq!(view::<[u8; 8]>(&bytes, 12, Header::Udp), short(12, 0));
    assert_eq!(view::<[u8; 8]>(&bytes, usize::MAX, Header::Udp), short(usize::MAX, 0));
}

#[test]
fn a_view_for_writing_ends_with_the_bytes_or_is_none() {
    let mut bytes = [0xa5_u8; 4];
    *view_mut::<[u8; 2]>(&mut bytes, 2).unwrap() = [1, 2];
    assert_eq!(bytes, [0xa5, 0xa5, 1, 2]);
    assert_eq!(view_mut::<[u8; 2]>(&mut bytes, 3), None);
    assert_eq!(view_mut::<[u8; 2]>(&mut bytes, 5), None);
}
