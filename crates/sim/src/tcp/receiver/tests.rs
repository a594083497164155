use super::{MAX_RANGES, Receiver};
use crate::tcp::Segment;

#[test]
fn a_hole_is_acknowledged_again_and_again_until_it_is_filled() {
    let mut receiver = connected();

    let acks = [data(1, 100), data(201, 100), data(301, 100), data(101, 100)]
        .map(|segment| receiver.handle_segment(&segment).unwrap().acknowledgment);

    assert_eq!(acks, [Some(101), Some(101), Some(101), Some(401)]);
    assert_eq!(receiver.received_bytes(), 400);
}

#[test]
fn a_fin_is_answered_once_everything_before_it_has_come() {
    let mut receiver = connected();
    let fin = Segment { fin: true, sequence: 101, acknowledgment: Some(1), ..Segment::default() };

    let early = receiver.handle_segment(&fin).unwrap();
    let complete = receiver.handle_segment(&data(1, 100)).unwrap();

    assert_eq!((early.fin, early.acknowledgment), (false, Some(1)));
    assert_eq!((complete.fin, complete.sequence, complete.acknowledgment), (true, 1, Some(102)));
    assert_eq!(receiver.received_bytes(), 100);
}

#[test]
fn a_pure_acknowledgement_is_not_answered() {
    let mut receiver = connected();

    assert_eq!(receiver.handle_segment(&data(1, 0)), None);
}

#[test]
fn no_more_holes_are_remembered_than_stated() {
    let mut receiver = connected();
    for hole in 0..2 * MAX_RANGES as u64 {
        receiver.handle_segment(&data(3 + 2 * hole, 1));
    }

    assert_eq!(receiver.out_of_order.len(), MAX_RANGES);
}

fn connected() -> Receiver {
    let mut receiver = Receiver::default();
    let syn = Segment { syn: true, ..Segment::default() };
    let answer = receiver.handle_segment(&syn).unwrap();
    assert_eq!(answer, Segment { syn: true, acknowledgment: Some(1), ..Segment::default() });
    receiver
}

fn data(sequence: u64, length: usize) -> Segment {
    Segment { sequence, length, acknowledgment: Some(1), ..Segment::default() }
}
