use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::num::NonZeroU8;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use super::{Batch, Feed, Reception, ReceptionCounts};
use crate::settings::ReceiveSettings;

#[test]
fn datagrams_arrive_in_order_with_their_sender_and_their_session() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let (reception, feed) = Reception::start(&settings(address)).unwrap();
        let socket = sender(reception.addresses()[0]);
        for number in 0..200_u32 {
            socket.send(&number.to_be_bytes()).unwrap();
        }
        let batches = take(&feed, 200);

        let datagrams = batches.iter().flat_map(|batch| batch.iter().map(|(_, bytes)| bytes.to_vec()));
        assert!(datagrams.eq((0..200_u32).map(|number| number.to_be_bytes().to_vec())));
        assert!(batches.iter().all(|batch| batch.session == reception.addresses()[0]));
        let from = socket.local_addr().unwrap();
        assert!(batches.iter().flat_map(Batch::iter).all(|(sender, _)| sender == from));
        assert!(batches.is_sorted_by_key(|batch| batch.received_at));
    }
}

#[test]
fn datagrams_to_a_wildcard_address_name_the_address_they_were_sent_to() {
    let (reception, feed) = Reception::start(&settings("0.0.0.0:0")).unwrap();
    let port = reception.addresses()[0].port();
    let sessions = ["127.0.0.1", "127.0.0.2"].map(|ip| SocketAddr::new(ip.parse().unwrap(), port));
    let sockets = sessions.map(sender);
    for number in 0..100_u8 {
        for socket in &sockets {
            socket.send(&[number; 30]).unwrap();
        }
    }
    // Several in one piece have one destination too.
    crate::sys::send_in_segments(&sockets[1], &[[100; 30], [101; 30]].concat(), 30).unwrap();

    let batches = take(&feed, 202);

    for (session, expected) in sessions.iter().zip([100_u8, 102]) {
        let of_session = batches.iter().filter(|batch| batch.session == *session);
        let numbers = of_session.flat_map(Batch::iter).map(|(_, bytes)| bytes[0]);
        assert!(numbers.eq(0..expected), "{session}");
    }

    let (reception, feed) = Reception::start(&settings("[::]:0")).unwrap();
    let session = SocketAddr::new("::1".parse().unwrap(), reception.addresses()[0].port());
    let socket = sender(session);
    socket.send(&[7; 20]).unwrap();
    crate::sys::send_in_segments(&socket, &[[8; 30], [9; 30]].concat(), 30).unwrap();

    let batches = take(&feed, 3);

    assert!(batches.iter().all(|batch| batch.session == session), "{batches:?}");
    assert_eq!(lengths(&batches), [20, 30, 30]);
}

#[test]
fn datagrams_of_no_bytes_and_of_the_most_bytes_are_datagrams() {
    let (reception, feed) = Reception::start(&settings("127.0.0.1:0")).unwrap();
    let socket = sender(reception.addresses()[0]);
    for length in [0, 1, 65_507] {
        socket.send(&vec![0xa5; length]).unwrap();
    }

    assert_eq!(lengths(&take(&feed, 3)), [0, 1, 65_507]);
}

#[test]
fn datagrams_that_the_sender_left_in_one_piece_are_told_apart() {
    let (reception, feed) = Reception::start(&settings("127.0.0.1:0")).unwrap();
    let socket = sender(reception.addresses()[0]);
    let piece: Vec<u8> = (0..10_u8).flat_map(|number| [number; 100]).chain([10; 40]).collect();
    crate::sys::send_in_segments(&socket, &piece, 100).unwrap();

    let batches = take(&feed, 11);

    assert_eq!(lengths(&batches), [vec![100; 10], vec![40]].concat());
    let first_bytes = batches.iter().flat_map(Batch::iter).map(|(_, bytes)| bytes[0]);
    assert!(first_bytes.eq(0..=10));
}

#[test]
fn what_the_kernel_drops_is_counted_to_the_datagram() {
    let small =
        ReceiveSettings { socket_buffer_bytes: 1, queue_bytes: usize::MAX, ..settings("127.0.0.1:0") };
    let (reception, feed) = Reception::start(&small).unwrap();
    // More senders than cores: a lone one that shares a core with the worker is interrupted by it at every datagram.
    let sockets: Vec<_> = (0..8).map(|_| sender(reception.addresses()[0])).collect();
    let mut received = 0;
    let mut counts = ReceptionCounts::default();
    let mut sent = 0;
    let deadline = Instant::now() + Duration::from_secs(30);
    while counts.kernel_dropped == 0 && Instant::now() < deadline {
        std::thread::scope(|scope| {
            for socket in &sockets {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        socket.send(&[0xa5; 200]).unwrap();
                    }
                });
            }
        });
        sent += 8_000;
        received += drain(&feed);
        counts.add(feed.take_counts());
    }
    reception.stop();
    received += drain(&feed);
    counts.add(feed.take_counts());

    assert!(counts.kernel_dropped > 0, "a buffer of a few datagrams takes {sent} of them");
    assert_eq!(counts, ReceptionCounts { kernel_dropped: counts.kernel_dropped, ..Default::default() });
    assert_eq!(received + counts.kernel_dropped, sent);
}

#[test]
fn addresses_that_may_not_report_are_refused_and_counted() {
    let allow = vec!["192.0.2.0/24".parse().unwrap()];
    let (reception, feed) = Reception::start(&ReceiveSettings { allow, ..settings("127.0.0.1:0") }).unwrap();
    let socket = sender(reception.addresses()[0]);
    for _ in 0..50 {
        socket.send(&[0xa5; 20]).unwrap();
    }
    reception.stop();

    assert_eq!(drain(&feed), 0);
    assert_eq!(feed.take_counts(), ReceptionCounts { refused: 50, ..Default::default() });
}

#[test]
fn what_arrived_before_the_stop_is_taken() {
    let (reception, feed) = Reception::start(&settings("127.0.0.1:0")).unwrap();
    let socket = sender(reception.addresses()[0]);
    for _ in 0..500 {
        socket.send(&[0xa5; 20]).unwrap();
    }
    reception.stop();

    assert_eq!(drain(&feed), 500);
    assert_eq!(feed.next(Duration::ZERO), Err(RecvTimeoutError::Disconnected));
}

#[test]
fn each_node_stays_with_one_worker_whatever_socket_its_reports_come_from() {
    let workers = NonZeroU8::new(4).unwrap();
    let (reception, feed) =
        Reception::start(&ReceiveSettings { workers, ..settings("127.0.0.1:0") }).unwrap();
    let sockets: Vec<UdpSocket> = (0..8).map(|_| sender(reception.addresses()[0])).collect();
    for number in 0..640_u32 {
        // Versions 1.0 and 2.0, node ids 0 to 39.
        let version = if number % 40 % 2 == 0 { 0x10 } else { 0x20 };
        let mut report = [0; 12];
        report[0] = version;
        report[4..8].copy_from_slice(&(number % 40).to_be_bytes());
        report[8..].copy_from_slice(&number.to_be_bytes());
        sockets[usize::try_from(number / 40 % 8).unwrap()].send(&report).unwrap();
    }

    let mut last: HashMap<u32, u32> = HashMap::new();
    for (_, report) in take(&feed, 640).iter().flat_map(Batch::iter) {
        let word = |at: usize| u32::from_be_bytes(report[at..at + 4].try_into().unwrap());
        let before = last.insert(word(4), word(8));
        assert!(before.is_none_or(|before| before < word(8)), "node {} is out of order", word(4));
    }
    assert_eq!(last.len(), 40);
}

#[test]
fn an_address_in_use_is_named() {
    let (reception, _feed) = Reception::start(&settings("127.0.0.1:0")).unwrap();
    let taken = reception.addresses()[0].to_string();

    let error = Reception::start(&settings(&taken)).unwrap_err();

    assert_eq!(error.to_string(), format!("cannot receive reports on {taken}"));
}

fn settings(address: &str) -> ReceiveSettings {
    ReceiveSettings { listen: vec![address.parse().unwrap()], ..ReceiveSettings::default() }
}

fn sender(to: SocketAddr) -> UdpSocket {
    let any =
        if to.is_ipv6() { "[::1]:0".parse().unwrap() } else { SocketAddr::from((Ipv4Addr::LOCALHOST, 0)) };
    let socket = UdpSocket::bind(any).unwrap();
    socket.connect(to).unwrap();
    socket
}

/// Waits for this many datagrams.
fn take(feed: &Feed, datagrams: usize) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    while batches.iter().map(Batch::len).sum::<usize>() < datagrams {
        batches.push(feed.next(Duration::from_secs(60)).expect("they were sent on loopback"));
    }
    batches
}

/// Takes the pending datagrams and counts them.
fn drain(feed: &Feed) -> u64 {
    std::iter::from_fn(|| feed.next(Duration::ZERO).ok())
        .map(|batch| u64::try_from(batch.len()).unwrap())
        .sum()
}

fn lengths(batches: &[Batch]) -> Vec<usize> {
    batches.iter().flat_map(Batch::iter).map(|(_, bytes)| bytes.len()).collect()
}
