//! Traffic between the hosts, checked byte by byte.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use crate::world::{Place, World};

/// Longer than anything takes here, also on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes in which every position differs.
pub(crate) fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..length).map(|_| next()).collect()
}

/// Sends `length` bytes over TCP from A to B and back; panics unless both arrive unchanged.
pub(crate) fn exchange_tcp(world: &World, address: &str, length: usize) {
    let (mut to_b, mut at_b) = connect(world, address);
    let (there, back) = (bytes(length, 1), bytes(length, 2));
    std::thread::scope(|scope| {
        scope.spawn(|| assert!(read(&mut at_b, length) == bytes(length, 1), "the bytes from A have changed"));
        to_b.write_all(&there).unwrap();
    });
    std::thread::scope(|scope| {
        scope.spawn(|| assert!(read(&mut to_b, length) == bytes(length, 2), "the bytes from B have changed"));
        at_b.write_all(&back).unwrap();
    });
}

/// A connection from A to `address` of B: A's end and B's.
pub(crate) fn connect(world: &World, address: &str) -> (TcpStream, TcpStream) {
    let address: SocketAddr = SocketAddr::new(address.parse().unwrap(), 0);
    let listener = world.inside(Place::B, || TcpListener::bind(address).unwrap());
    let address = listener.local_addr().unwrap();
    let to_b = world.inside(Place::A, || TcpStream::connect_timeout(&address, PATIENCE).unwrap());
    let (at_b, _) = listener.accept().unwrap();
    for end in [&to_b, &at_b] {
        end.set_read_timeout(Some(PATIENCE)).unwrap();
        end.set_write_timeout(Some(PATIENCE)).unwrap();
    }
    (to_b, at_b)
}

pub(crate) fn read(stream: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut received = vec![0xa5; length];
    stream.read_exact(&mut received).unwrap();
    received
}

/// Sends a message on a connection in one direction, then in the other; panics unless both arrive unchanged.
pub(crate) fn say_both_ways((a, b): (&mut TcpStream, &mut TcpStream), said: &[u8]) {
    a.write_all(said).unwrap();
    assert!(read(b, said.len()) == said, "{} bytes have changed", said.len());
    b.write_all(said).unwrap();
    assert!(read(a, said.len()) == said, "{} bytes have changed", said.len());
}

/// Sockets of A and B, each connected to the other.
pub(crate) fn udp_pair(world: &World, a: &str, b: &str) -> (UdpSocket, UdpSocket) {
    let bind = |address: &str| {
        let socket = UdpSocket::bind((address, 0)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    };
    let at_a = world.inside(Place::A, || bind(a));
    let at_b = world.inside(Place::B, || bind(b));
    at_a.connect(at_b.local_addr().unwrap()).unwrap();
    at_b.connect(at_a.local_addr().unwrap()).unwrap();
    (at_a, at_b)
}

/// Sends one datagram of every length; panics unless each arrives unchanged.
pub(crate) fn exchange_udp(world: &World, a: &str, b: &str, lengths: impl IntoIterator<Item = usize>) {
    let (at_a, at_b) = udp_pair(world, a, b);
    for length in lengths {
        let (from, to) = if length % 2 == 0 { (&at_a, &at_b) } else { (&at_b, &at_a) };
        deliver(from, to, &bytes(length, 3));
    }
}

/// Sends a datagram; panics unless it arrives unchanged.
pub(crate) fn deliver(from: &UdpSocket, to: &UdpSocket, payload: &[u8]) {
    let mut received = vec![0xa5; 1 << 16];
    from.send(payload).unwrap();
    let length = receive(to, &mut received);
    assert_eq!(received[..length], *payload, "{} bytes", payload.len());
}

/// Takes the datagrams that wait at a socket; returns how many there were. The socket never blocks again.
pub(crate) fn received(socket: &UdpSocket) -> u64 {
    socket.set_nonblocking(true).unwrap();
    std::iter::from_fn(|| socket.recv(&mut [0; 2_048]).ok()).count().try_into().unwrap()
}

/// Receives the next datagram, even if the machine was suspended meanwhile.
pub(crate) fn receive(socket: &UdpSocket, into: &mut [u8]) -> usize {
    loop {
        match socket.recv(into) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            received => return received.unwrap(),
        }
    }
}

/// What arrives of datagrams that a host sends while INT ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrived {
    pub(crate) with_int: u64,
    pub(crate) plain: u64,
    /// How long after the beginning the last one with INT was sent, at the earliest.
    pub(crate) last_with_int: Duration,
}

/// Sends numbered datagrams until `duration` after `since`, and until many arrive without INT.
pub(crate) fn send_while_int_ends(
    from: &UdpSocket,
    to: &UdpSocket,
    since: Instant,
    duration: Duration,
) -> Arrived {
    to.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    // The test may have to wait for a processor before it receives what it has sent.
    let (mut arrived, mut sent) = (Arrived::default(), Vec::new());
    while since.elapsed() < duration || arrived.plain < 150 {
        assert!(since.elapsed() < PATIENCE, "{arrived:?}");
        let number = u32::try_from(sent.len()).unwrap().to_be_bytes();
        sent.push(since.elapsed());
        let _ = from.send(&[b"payload", number.as_slice()].concat());
        let mut buffer = [0; 2_000];
        if let Ok(length) = to.recv(&mut buffer) {
            let (front, number) = buffer[..length].split_last_chunk().unwrap();
            if front == b"payload" {
                arrived.plain += 1;
            } else {
                arrived.with_int += 1;
                arrived.last_with_int = sent[usize::try_from(u32::from_be_bytes(*number)).unwrap()];
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    arrived
}
