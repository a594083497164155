//! Receives payloads, and checks every byte.

use std::io::{self, Read};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;
use socket2::{Domain, Socket, Type};

use super::args::ReceiveArgs;
use super::pattern;
use crate::failure::Failure;
use crate::{out, signals};

/// What was received.
#[derive(Default)]
struct Counts {
    right: AtomicU64,
    wrong: AtomicU64,
    bytes: AtomicU64,
}

pub(super) fn run(args: &ReceiveArgs) -> Result<(), Failure> {
    let stop = signals::until_stopped()?;
    let counts = Arc::new(Counts::default());
    let cannot = || format!("cannot receive on port {}", args.port);
    let sockets = open(args.port).with_context(cannot)?;
    for (udp, tcp) in sockets {
        let (shared, streams) = (Arc::clone(&counts), Arc::clone(&counts));
        std::thread::Builder::new().spawn(move || datagrams(&udp, &shared)).with_context(cannot)?;
        std::thread::Builder::new().spawn(move || connections(&tcp, &streams)).with_context(cannot)?;
    }
    let began = Instant::now();
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    while !stop.load(Ordering::Relaxed)
        && args.time.is_none_or(|time| began.elapsed() < time)
        && args.packets.is_none_or(|packets| read(&counts.right) + read(&counts.wrong) < packets)
    {
        std::thread::sleep(STEP);
    }
    let (right, wrong) = (read(&counts.right), read(&counts.wrong));
    let result = json!({ "received": right, "wrong": wrong, "bytes": read(&counts.bytes) });
    let printed = out::print(&format!("{result}\n"));
    if wrong > 0 {
        return Err(Failure::Work(anyhow::anyhow!("{wrong} payloads were changed on their way")));
    }
    match args.packets {
        Some(packets) if right < packets => {
            Err(Failure::Work(anyhow::anyhow!("{right} of {packets} payloads have come")))
        }
        _ => printed,
    }
}

/// Opens UDP and TCP of each family at a port; a machine without IPv6 receives IPv4.
///
/// # Errors
/// The port is in use.
fn open(port: u16) -> io::Result<Vec<(UdpSocket, TcpListener)>> {
    let mut sockets = vec![open_at((Ipv4Addr::UNSPECIFIED, port).into())?];
    match open_at((Ipv6Addr::UNSPECIFIED, port).into()) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
        opened => sockets.extend(opened),
    }
    Ok(sockets)
}

fn open_at(address: SocketAddr) -> io::Result<(UdpSocket, TcpListener)> {
    let open = |kind| {
        let socket = Socket::new(Domain::for_address(address), kind, None)?;
        if address.is_ipv6() {
            // Else it would include IPv4, which has sockets of its own.
            socket.set_only_v6(true)?;
        }
        if kind == Type::STREAM {
            // As the standard library does: the port may have connections of an earlier run.
            socket.set_reuse_address(true)?;
        }
        socket.bind(&address.into())?;
        Ok::<_, io::Error>(socket)
    };
    let (udp, tcp) = (open(Type::DGRAM)?, open(Type::STREAM)?);
    tcp.listen(WAITING)?;
    Ok((udp.into(), tcp.into()))
}

fn datagrams(socket: &UdpSocket, counts: &Counts) {
    let mut buffer = [0; 1 << 16];
    loop {
        let Ok(length) = socket.recv(&mut buffer) else { continue };
        count(counts, &buffer[..length]);
    }
}

fn count(counts: &Counts, payload: &[u8]) {
    let right = if pattern::check(payload).is_some() { &counts.right } else { &counts.wrong };
    counts.bytes.fetch_add(payload.len() as u64, Ordering::Relaxed);
    right.fetch_add(1, Ordering::Relaxed);
}

fn connections(listener: &TcpListener, counts: &Arc<Counts>) {
    for stream in listener.incoming().flatten() {
        let counts = Arc::clone(counts);
        // Without a thread for it, the connection is closed.
        let _ = std::thread::Builder::new().spawn(move || stream_of(stream, &counts));
    }
}

/// Splits a stream into payloads at the marks.
fn stream_of(mut stream: TcpStream, counts: &Counts) {
    let mut held = Vec::new();
    let mut buffer = [0; 1 << 16];
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        held.extend_from_slice(&buffer[..length]);
        while let Some(next) = held.get(1..).and_then(|rest| rest.windows(8).position(|it| it == MARK)) {
            count(counts, &held[..=next]);
            held.drain(..=next);
        }
        if held.len() > MAX_HELD {
            break;
        }
    }
    if !held.is_empty() {
        count(counts, &held);
    }
}

const MARK: &[u8] = b"inbandlb";
/// Connections that wait to be accepted.
const WAITING: i32 = 1_024;
const STEP: Duration = Duration::from_millis(20);
/// Most bytes that are held without a mark.
const MAX_HELD: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};

    use super::open;

    /// Another program may take the chosen port before the test does.
    const TRIES: usize = 50;

    #[test]
    fn both_families_are_received_at_one_port() {
        if UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
            return eprintln!("skipped: this machine has no IPv6");
        }
        let choose = || Ok(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port());
        let sockets = (0..TRIES).find_map(|_| choose().and_then(open).ok()).unwrap();

        assert_eq!(sockets.len(), 2);
        for (udp, tcp) in &sockets {
            assert_eq!(udp.local_addr().unwrap(), tcp.local_addr().unwrap());
        }
        assert!(sockets[0].0.local_addr().unwrap().is_ipv4());
        assert!(sockets[1].0.local_addr().unwrap().is_ipv6());
    }
}
