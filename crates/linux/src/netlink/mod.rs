//! The kernel's network configuration: requests with their answers, and changes as they happen.

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

/// A netlink connection to the kernel, for routing by default, in the network namespace it was made in.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

/// The kernel answers at once, or never.
const PATIENCE: Duration = Duration::from_secs(5);
/// Larger than the kernel's datagrams of a dump.
const BUFFER_BYTES: usize = 1 << 16;
/// Maximum number of answers to one request.
const MAX_ANSWERS: usize = 100_000;

const ERROR: u16 = 2;
const DONE: u16 = 3;

impl Netlink {
    /// Connects.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn open() -> io::Result<Self> {
        // Netlink protocol 0 is routing.
        Self::connect(None)
    }

    /// Connects to generic netlink.
    pub(crate) fn open_generic() -> io::Result<Self> {
        Self::connect(Some(GENERIC))
    }

    /// Connects to the kernel's packet filters.
    pub(crate) fn open_netfilter() -> io::Result<Self> {
        Self::connect(Some(NETFILTER))
    }

    /// Connects to the kernel's IPsec policies.
    pub(crate) fn open_ipsec() -> io::Result<Self> {
        Self::connect(Some(XFRM))
    }

    fn connect(protocol: Option<Protocol>) -> io::Result<Self> {
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol)?;
        bind(&socket, &SocketAddrNetlink::new(0, 0))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
        Ok(Self { socket, sequence: 0, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Makes the kernel execute `message`.
    ///
    /// # Errors
    /// An error of the kernel, or no answer.
    pub fn change(&mut self, message: Message) -> io::Result<()> {
        self.ask(message.with_acknowledgement(), |_, _| {})
    }

    /// Passes the kernel's answer to a request for one object, its type and its body, to `take`.
    ///
    /// # Errors
    /// An error of the kernel, or no answer.
    pub fn query(&mut self, message: Message, take: impl FnMut(u16, &[u8])) -> io::Result<()> {
        self.ask(message.with_acknowledgement(), take)
    }

    /// Passes every answer to a request for all objects, its type and its body, to `take`.
    ///
    /// # Errors
    /// An error of the kernel, or no answer.
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

/// The result in an answer of type `ERROR`: 0 is success, otherwise a negative error number.
fn outcome(body: &[u8]) -> io::Result<()> {
    let code = body.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code));
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code.saturating_neg())) }
}

#[cfg(test)]
mod tests;
