//! The kernel's network configuration: requests with their answers, and changes as they happen.

mod message;
mod monitor;

use std::io;
use std::os::fd::OwnedFd;
use std::thread;
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

/// Maximum number of requests for all objects.
const MAX_DUMPS: usize = 5;
/// Time for a change to be over.
const BETWEEN_DUMPS: Duration = Duration::from_millis(2);

const ERROR: u16 = 2;
const DONE: u16 = 3;
/// `NLM_F_DUMP_INTR`.
const DUMP_INTERRUPTED: u16 = 0x10;

/// The objects in the answers to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    /// As they were at one time.
    Whole,
    /// There was a change between two answers.
    Interrupted,
}

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
        self.ask(&message.with_acknowledgement(), |_, _| {}).map(drop)
    }

    /// Passes the kernel's answer to a request for one object, its type and its body, to `take`.
    ///
    /// # Errors
    /// An error of the kernel, or no answer.
    pub fn query(&mut self, message: Message, take: impl FnMut(u16, &[u8])) -> io::Result<()> {
        self.ask(&message.with_acknowledgement(), take).map(drop)
    }

    /// Passes every answer to a request for all objects, its type and its body, to `take`; asks again if
    /// there was a change meanwhile.
    ///
    /// # Errors
    /// An error of the kernel, or no answer; [`io::ErrorKind::Interrupted`] where there are changes all the
    /// time.
    pub fn dump(&mut self, message: Message, mut take: impl FnMut(u16, &[u8])) -> io::Result<()> {
        let message = message.for_all();
        for _ in 0..MAX_DUMPS {
            let mut answers = Vec::new();
            match self.ask(&message, |kind, body| answers.push((kind, body.to_vec())))? {
                List::Whole => {
                    answers.iter().for_each(|(kind, body)| take(*kind, body));
                    return Ok(());
                }
                // What is in it twice or not at all is unknown.
                List::Interrupted => thread::sleep(BETWEEN_DUMPS),
            }
        }
        let why = "the list changes faster than the kernel gives it";
        Err(io::Error::new(io::ErrorKind::Interrupted, why))
    }

    fn ask(&mut self, message: &Message, mut take: impl FnMut(u16, &[u8])) -> io::Result<List> {
        let mut list = List::Whole;
        self.sequence = self.sequence.wrapping_add(1);
        send(&self.socket, &message.finish(self.sequence), SendFlags::empty())?;
        for _ in 0..MAX_ANSWERS {
            let (received, _) = recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::empty())?;
            let answers = self.buffer.get(..received).unwrap_or_default();
            for answer in message::answers(answers).filter(|answer| answer.sequence == self.sequence) {
                if answer.flags & DUMP_INTERRUPTED != 0 {
                    list = List::Interrupted;
                }
                match answer.kind {
                    DONE | ERROR => return outcome(answer.body).map(|()| list),
                    kind => take(kind, answer.body),
                }
            }
        }
        Err(io::Error::other("the kernel does not come to an end"))
    }
}

/// The result in the last answer, of type `ERROR` or `DONE`: 0 is success, otherwise a negative error number.
fn outcome(body: &[u8]) -> io::Result<()> {
    let code = body.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code));
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code.saturating_neg())) }
}

#[cfg(test)]
mod tests;
