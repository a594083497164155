//! Receives payloads, and checks every byte.

use std::io::Read;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;

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
    // A machine without IPv6 still receives IPv4.
    let any =
        [(Ipv4Addr::UNSPECIFIED, args.port).into(), SocketAddr::from((Ipv6Addr::UNSPECIFIED, args.port))];
    let mut opened = 0;
    for address in any {
        let Ok(udp) = UdpSocket::bind(address) else { continue };
        let Ok(tcp) = TcpListener::bind(address) else { continue };
        opened += 1;
        let (shared, streams) = (Arc::clone(&counts), Arc::clone(&counts));
        std::thread::Builder::new().spawn(move || datagrams(&udp, &shared)).with_context(cannot)?;
        std::thread::Builder::new().spawn(move || connections(&tcp, &streams)).with_context(cannot)?;
    }
    if opened == 0 {
        return Err(Failure::Work(anyhow::anyhow!(cannot())));
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
const STEP: Duration = Duration::from_millis(20);
/// Most bytes that are held without a mark.
const MAX_HELD: usize = 1 << 16;
