use super::EgressQueue;
use crate::packet::Packet;

#[test]
fn each_packet_sees_the_bytes_that_were_there_before_it() {
    let mut queue = EgressQueue::new(1_000);
    for bytes in [100, 200, 300] {
        queue.enqueue(packet(bytes)).unwrap();
    }

    let seen: Vec<_> = std::iter::from_fn(|| queue.dequeue())
        .map(|packet| (packet.frame().len(), packet.occupancy_bytes))
        .collect();

    assert_eq!(seen, [(100, 0), (200, 100), (300, 300)]);
    assert_eq!((queue.len(), queue.occupancy_bytes), (0, 0));
}

#[test]
fn a_packet_that_fills_the_queue_to_the_byte_fits_and_one_byte_more_does_not() {
    let mut queue = EgressQueue::new(1_000);
    queue.enqueue(packet(400)).unwrap();

    assert!(queue.enqueue(packet(601)).is_err());
    assert!(queue.enqueue(packet(600)).is_ok());
    assert!(queue.enqueue(packet(1)).is_err());
    assert_eq!(queue.occupancy_bytes, 1_000);
}

fn packet(bytes: usize) -> Box<Packet> {
    let mut packet = Box::new(Packet::default());
    packet.send(0, |frame| frame.resize(bytes, 0xa5));
    packet
}
