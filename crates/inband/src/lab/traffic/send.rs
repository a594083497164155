//! Sends payloads at a rate.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;

use super::args::SendArgs;
use super::pattern;
use crate::failure::Failure;
use crate::out;

/// One flow.
enum Flow {
    Udp(UdpSocket),
    Tcp(TcpStream),
}

pub(super) fn run(args: &SendArgs) -> Result<(), Failure> {
    let mut flows = Vec::new();
    for destination in &args.destinations {
        let address = SocketAddr::new(*destination, args.port);
        for _ in 0..args.flows {
            flows.push((open(args, address).with_context(|| format!("cannot send to {address}"))?, 0_u64));
        }
    }
    let began = Instant::now();
    let mut payload = vec![0; args.bytes.into()];
    let (mut sent, mut refused) = (0_u64, 0_u64);
    let each = match args.rate.bytes() {
        0 => Duration::ZERO,
        rate => Duration::from_secs_f64(f64::from(args.bytes) / rate as f64),
    };
    let mut due = began;
    let many = flows.len();
    while began.elapsed() < args.time && args.packets.is_none_or(|packets| sent + refused < packets) {
        let at = usize::try_from((sent + refused) % many as u64).unwrap_or(0);
        let (flow, number) = &mut flows[at];
        pattern::fill(&mut payload, *number);
        *number += 1;
        let done = match flow {
            Flow::Udp(socket) => socket.send(&payload).map(drop),
            Flow::Tcp(stream) => stream.write_all(&payload),
        };
        if done.is_ok() {
            sent += 1;
        } else {
            refused += 1;
        }
        due += each;
        let now = Instant::now();
        if due > now {
            std::thread::sleep(due - now);
        } else if now - due > BEHIND {
            due = now;
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let result = json!({ "sent": sent, "refused": refused, "flows": many, "seconds": seconds });
    out::print(&format!("{result}\n"))
}

fn open(args: &SendArgs, address: SocketAddr) -> std::io::Result<Flow> {
    if args.tcp {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        return Ok(Flow::Tcp(stream));
    }
    let socket = UdpSocket::bind(any(address.ip()))?;
    socket.connect(address)?;
    Ok(Flow::Udp(socket))
}

/// The unspecified address of the family of `of`.
fn any(of: IpAddr) -> SocketAddr {
    match of {
        IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

const PATIENCE: Duration = Duration::from_secs(10);
/// Largest delay that is made up for; the rest of a longer one is skipped.
const BEHIND: Duration = Duration::from_millis(10);
