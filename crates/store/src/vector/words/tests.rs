use super::{Letters, Met, Words, address, letters};
use crate::history::Texts;

#[test]
fn an_address_is_its_number_and_comes_back_as_it_was_written() {
    for text in ["0.0.0.0", "1.2.3.4", "10.0.0.255", "100.99.10.9", "255.255.255.255"] {
        let number = address(text).unwrap();
        assert!(number < 0, "{text}");
        assert_eq!(letters(number, &Texts::default(), &mut Letters::default()), text);
    }
}

#[test]
fn what_is_written_in_another_way_is_a_text_like_any_other() {
    let others =
        ["", "1.2.3", "01.2.3.4", "1.2.3.256", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4.5", "::ffff:1.2.3.4", "a"];
    let words = Words::default();
    let numbers = words.numbers(others);
    assert_eq!(numbers, (0..9).collect::<Vec<i64>>());
    let texts = words.all();
    assert!(
        numbers
            .iter()
            .zip(others)
            .all(|(number, text)| { letters(*number, &texts, &mut Letters::default()) == text })
    );
}

#[test]
fn threads_know_a_text_by_one_number_however_many_there_are() {
    let words = Words::default();
    let (mut one, mut other) = (Met::none_of(&words), Met::none_of(&words));
    let mut all = Texts::default();
    (0..5_000).for_each(|number| all.push(&format!("fd00::{number:x}")));
    let mut backwards = Texts::default();
    (0..5_000).rev().for_each(|number| backwards.push(all.get(number)));
    let (first, bytes) = one.numbers(all.iter(), &words);
    let (mut second, _) = other.numbers(backwards.iter(), &words);
    second.reverse();
    assert_eq!(first, second);
    assert!(bytes > 5_000 * 8, "{bytes}");
    assert_eq!(one.numbers(all.iter(), &words), (first, 0));
}

#[test]
fn long_texts_have_one_number_as_well() {
    let words = Words::default();
    let (mut one, mut other) = (Met::none_of(&words), Met::none_of(&words));
    let mut all = Texts::default();
    (0..3_000).for_each(|number| all.push(&format!("{}{}", "x".repeat(number % 7 * 40), number / 14)));
    let (first, _) = one.numbers(all.iter(), &words);
    assert_eq!(other.numbers(all.iter(), &words).0, first);
    assert_eq!(words.numbers(all.iter()), first);
    let texts = words.all();
    let text = |number: &i64| texts.get(usize::try_from(*number).unwrap()).to_owned();
    assert_eq!(first.iter().map(text).collect::<Vec<_>>(), all.iter().collect::<Vec<_>>());
}
