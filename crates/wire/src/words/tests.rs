//! Words and their bytes, at the ends of the range.

use super::Words;

#[test]
fn a_word_is_four_bytes() {
    for count in 0..=u8::MAX {
        assert_eq!(Words::new(count).bytes(), usize::from(count) * 4);
        assert_eq!(Words::new(count).count(), count);
    }
}

#[test]
fn sums_past_255_words_and_differences_below_zero_are_none() {
    assert_eq!(Words::new(254).checked_add(Words::new(1)), Some(Words::MAX));
    assert_eq!(Words::MAX.checked_add(Words::new(1)), None);
    assert_eq!(Words::new(3).checked_sub(Words::new(3)), Some(Words::new(0)));
    assert_eq!(Words::new(3).checked_sub(Words::new(4)), None);
}
