use super::message::{Answer, Attributes, Message, answers};
use super::outcome;

#[test]
fn a_message_is_read_as_it_was_written() {
    let message = Message::new(16, 0, &[7; 16]).attribute(3, b"int0\0").nested(18, |inner| {
        inner.attribute(1, b"veth").nested(2, |data| data.bytes(&[1; 4]).attribute(9, b""))
    });
    let bytes = message.finish(5);

    let all: Vec<Answer<'_>> = answers(&bytes).collect();
    let [answer] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((answer.kind, answer.sequence, bytes.len() % 4), (16, 5, 0));
    let attributes = Attributes(&answer.body[16..]);
    assert_eq!(attributes.text(3), Some("int0"));
    let info = Attributes(attributes.get(18).unwrap_or_default());
    assert_eq!((info.text(1), info.get(2).map(<[u8]>::len)), (Some("veth"), Some(8)));
    assert_eq!(info.get(3), None);
}

#[test]
fn what_is_cut_off_or_lies_about_its_length_ends_the_reading() {
    let bytes = Message::new(16, 0, &[7; 16]).attribute(3, b"int0\0").finish(5);

    for length in 0..bytes.len() {
        assert_eq!(answers(&bytes[..length]).count(), 0, "{length}");
    }
    for length in [0_u32, 1, 15, 1000, u32::MAX] {
        let mut lying = bytes.clone();
        lying[..4].copy_from_slice(&length.to_ne_bytes());
        assert_eq!(answers(&lying).count(), 0, "{length}");
    }
    for length in [0_u16, 3, 9, u16::MAX] {
        let mut lying = bytes[32..].to_vec();
        lying[..2].copy_from_slice(&length.to_ne_bytes());
        assert!(Attributes(&lying).get(3).is_none_or(|value| value.len() <= 5), "{length}");
    }
}

#[test]
fn an_error_of_zero_is_success() {
    assert!(outcome(&0_i32.to_ne_bytes()).is_ok());
    let error = outcome(&(-17_i32).to_ne_bytes()).map_err(|error| error.raw_os_error());
    assert_eq!(error, Err(Some(17)));
}
