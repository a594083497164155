use std::net::IpAddr;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use super::{Limits, Phase, Place, Places, Reason};

#[test]
fn the_one_who_has_not_asked_for_longest_goes_first() {
    let places = places(3, 3);
    let [first, second, third] = [Phase::Header; 3].map(|phase| places.take(peer(1), phase).unwrap());
    first.enter(Phase::Answer);

    let fourth = places.take(peer(2), Phase::Header).unwrap();

    let is_there = |place: &Arc<Place>| places.taken().iter().any(|taken| Arc::ptr_eq(taken, place));
    assert_eq!([&first, &second, &third, &fourth].map(is_there), [true, false, true, true]);
    assert_eq!(places.closed(Reason::Full), 1);
}

#[test]
fn a_peer_with_too_many_connections_loses_one_of_its_own() {
    let places = places(10, 2);
    let of_another = places.take(peer(9), Phase::Header).unwrap();
    for _ in 0..5 {
        places.take(peer(1), Phase::Header).unwrap();
    }

    assert_eq!((held(&places), places.closed(Reason::Peer)), (3, 3));
    assert!(places.taken().iter().any(|taken| Arc::ptr_eq(taken, &of_another)));
}

#[test]
fn nobody_who_is_being_answered_loses_the_place() {
    let places = places(2, 2);
    for _ in 0..2 {
        places.take(peer(1), Phase::Header).unwrap().enter(Phase::Answer);
    }

    assert!(places.take(peer(2), Phase::Header).is_none());
    assert_eq!(
        (places.closed(Reason::Refused), places.counts.accepted.load(std::sync::atomic::Ordering::Relaxed)),
        (1, 2)
    );
}

#[test]
fn the_addresses_of_one_ipv6_network_are_one_peer() {
    let places = places(10, 1);
    for address in ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "::ffff:10.0.0.1", "10.0.0.1"] {
        places.take(address.parse().unwrap(), Phase::Header).unwrap();
    }
    assert_eq!((held(&places), places.closed(Reason::Peer)), (3, 2));
}

#[test]
fn a_caller_that_reads_a_few_bytes_now_and_then_falls_behind_until_all_is_sent() {
    let begun = Instant::now();
    let behind = |bytes_per_second: usize| {
        let place = Place::new(peer(1), Phase::Answer);
        for second in 0..40 {
            let now = begun + Duration::from_secs(second);
            place.note_write(&Poll::Pending, now);
            place.note_write(&Poll::Ready(Ok(bytes_per_second)), now + Duration::from_secs(1));
        }
        (place.unread_for(begun + Duration::from_secs(40)), place)
    };

    let (trickling, place) = behind(16);
    assert!(trickling.is_some_and(|time| time > Duration::from_secs(39)), "{trickling:?}");
    assert_eq!(behind(20_000).0, None);
    place.note_sent();
    assert_eq!(place.unread_for(begun + Duration::from_secs(40)), None);
}

#[test]
fn a_caller_is_idle_once_its_answer_is_sent() {
    let place = Place::new(peer(1), Phase::Answer);
    place.note_write(&Poll::Ready(Ok(1_000)), Instant::now());
    // The last part of the body is passed on, and waits to be sent.
    place.enter(Phase::Idle);
    place.note_write(&Poll::Pending, Instant::now());
    assert_eq!((place.phase(), place.rank(Instant::now())), (Phase::Answer, None));
    std::thread::sleep(Duration::from_millis(20));
    place.note_write(&Poll::Ready(Ok(1_000)), Instant::now());
    assert_eq!(place.phase(), Phase::Answer);
    let sent = Instant::now();
    place.note_sent();
    assert_eq!((place.phase(), place.age(sent)), (Phase::Idle, Duration::ZERO), "idle from then on");
}

fn places(connections: usize, connections_per_peer: usize) -> Places {
    let long = Duration::from_secs(100);
    let [header, body, idle, unread] = [long; 4];
    Places::new(Limits { connections, connections_per_peer, streams: 1, header, body, idle, unread })
}

fn peer(number: u8) -> IpAddr {
    [10, 0, 0, number].into()
}

fn held(places: &Places) -> usize {
    places.taken().len()
}
