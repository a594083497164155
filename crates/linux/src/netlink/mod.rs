//! The kernel's network configuration: one request and its answers at a time, and changes as they happen.

mod message;
mod monitor;

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::netlink::{GENERIC, NETFILTER, SocketAddrNetlink, XFRM};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
};

pub use message::{Attributes, Message};
pub use monitor::{Group, Heard, Monitor};

/// A connection to the kernel's netlink, for routing unless something else is said, of the network namespace it was made in.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

/// The kernel answers at once, or not at all.
const PATIENCE: Duration = Duration::from_secs(5);
/// More than the kernel puts into one datagram of a dump.
const BUFFER_BYTES: usize = 1 << 16;
/// Most answers to one request.
const MAX_ANSWERS: usize = 100_000;

const ERROR: u16 = 2;
const DONE: u16 = 3;

impl Netlink {
    /// Connects.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn open() -> io::Result<Self> {
        // Protocol 0 of netlink is routing.
        Self::connect(None)
    }

    /// Connects to what is neither routing nor filters.
    pub(crate) fn open_generic() -> io::Result<Self> {
        Self::connect(Some(GENERIC))
    }

    /// Connects to the kernel's filters of packets.
    pub(crate) fn open_netfilter() -> io::Result<Self> {
        Self::connect(Some(NETFILTER))
    }

    /// Connects to the kernel's policies of IPsec.
    pub(crate) fn open_ipsec() -> io::Result<Self> {
        Self::connect(Some(XFRM))
    }

    fn connect(protocol: Option<Protocol>) -> io::Result<Self> {
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol)?;
        bind(&socket, &SocketAddrNetlink::new(0, 0))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
        Ok(Self { socket, sequence: 0, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Has the kernel do what `message` says.
    ///
    /// # Errors
    /// What the kernel says, or that it says nothing.
    pub fn change(&mut self, message: Message) -> io::Result<()> {
        self.ask(message.with_acknowledgement(), |_, _| {})
    }

    /// Hands what the kernel answers to a request for one thing, its type and its body, to `take`.
    ///
    /// # Errors
    /// What the kernel says, or that it says nothing.
    pub fn query(&mut self, message: Message, take: impl FnMut(u16, &[u8])) -> io::Result<()> {
        self.ask(message.with_acknowledgement(), take)
    }

    /// Hands every answer to a request for all there is, its type and its body, to `take`.
    ///
    /// # Errors
    /// What the kernel says, or that it says nothing.
    pub fn dump(&mut self, message: Message, take: impl FnMut(u16, &[u8])) -> io::Result<()> {
        self.ask(message.for_all(), take)
    }

    fn ask(&mut self, message: Message, mut take: impl FnMut(u16, &[u8])) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        send(&self.socket, &message.finish(self.sequence), SendFlags::empty())?;
        for _ in 0..MAX_ANSWERS {
            let (received, _) = recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::empty())?;
            let answers = self.buffer.get(..received).unwrap_or_default();
            for answer in message::answers(answers).filter(|answer| answer.sequence == self.sequence) {
                match answer.kind {
                    DONE => return Ok(()),
                    ERROR => return outcome(answer.body),
                    kind => take(kind, answer.body),
                }
            }
        }
        Err(io::Error::other("the kernel does not come to an end"))
    }
}

/// What an answer of type `ERROR` says: 0 is success, otherwise it is a negative error number.
fn outcome(body: &[u8]) -> io::Result<()> {
    let code = body.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code));
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code.saturating_neg())) }
}

#[cfg(test)]
mod tests;
