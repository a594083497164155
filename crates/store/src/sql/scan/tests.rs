use super::{Wanted, wanted_rows};
use crate::history::{ColumnData, Texts};

#[test]
fn a_text_is_found_under_every_code_that_it_has() {
    let mut words = Texts::default();
    words.extend(["loop", "drop", "loop"]);
    let column = ColumnData::Texts { codes: vec![Some(0), Some(1), None, Some(2)], words };

    let rows = |text: &str| wanted_rows(&[Some(column.clone())], &[Wanted::Text(0, text.into())], 4);

    assert_eq!((rows("loop"), rows("drop"), rows("gap")), (vec![0, 3], vec![1], vec![]));
}
