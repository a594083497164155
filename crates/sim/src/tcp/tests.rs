use super::{from_wire, to_wire};

#[test]
fn sequence_numbers_wrap_and_units_do_not() {
    let initial = u32::MAX - 9;

    assert_eq!(to_wire(initial, 10), 0);
    assert_eq!(from_wire(initial, 5, 0), Some(10));
    assert_eq!(from_wire(initial, 20, u32::MAX), Some(9));
    assert_eq!(from_wire(initial, 3 << 32, to_wire(initial, (3 << 32) + 7)), Some((3 << 32) + 7));
    assert_eq!(from_wire(initial, 0, initial - 1), None);
}
