use super::EventQueue;

#[test]
fn events_come_out_by_time_and_ties_in_the_order_scheduled() {
    let mut events = EventQueue::new();
    for (at, name) in [(20, "d"), (10, "a"), (10, "b"), (30, "e"), (10, "c")] {
        events.schedule(at, name);
    }

    let order: Vec<_> = std::iter::from_fn(|| events.pop_until(30)).collect();

    assert_eq!(order, [(10, "a"), (10, "b"), (10, "c"), (20, "d"), (30, "e")]);
}

#[test]
fn an_event_waits_for_its_time() {
    let mut events = EventQueue::new();
    events.schedule(10, ());

    assert_eq!(events.pop_until(9), None);
    assert_eq!(events.pending().count(), 1);
    assert_eq!(events.pop_until(10), Some((10, ())));
    assert_eq!(events.pending().count(), 0);
}
