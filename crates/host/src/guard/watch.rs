//! What does the guard do, while the agent lives and after?

use std::collections::HashMap;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread;
use std::time::Duration;

use inband_linux::netlink::Netlink;
use rustix::io::Errno;

use super::message::{Message, receive};
use crate::shim;

/// What the guard holds.
#[derive(Debug, Default)]
struct Held {
    /// By device: links that detach when they are dropped.
    links: HashMap<u32, Vec<OwnedFd>>,
    /// By device: the near side of its shim.
    shims: HashMap<u32, u32>,
    linger: Duration,
}

/// How the agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It has said so, and does the rest itself.
    Dismissed,
    /// It is gone.
    Gone,
}

/// What the guard is called among processes.
const NAME: &CStr = c"int-guard";

/// How long packets are on their way through a shim at most.
const DRAIN: Duration = Duration::from_millis(50);

/// Guards the agent at the other end of `socket`, to its end and for a while longer.
///
/// # Errors
/// What the system refuses.
pub fn run(socket: &OwnedFd) -> io::Result<()> {
    // The guard is to outlive what ends the agent's group of processes; where it leads one already, it does.
    let _ = rustix::process::setsid();
    // And whoever kills the agent by its name, which the guard would have, too. Without a name of its own it works as well.
    let _ = rustix::thread::set_name(NAME);
    let mut held = Held::default();
    match listen(socket.as_fd(), &mut held)? {
        End::Dismissed => Ok(()),
        End::Gone => wind_up(held),
    }
}

/// Follows the agent until it ends.
fn listen(socket: BorrowedFd<'_>, held: &mut Held) -> io::Result<End> {
    loop {
        let (message, link) = match receive(socket) {
            Ok(Some(received)) => received,
            Ok(None) | Err(Errno::CONNRESET) => return Ok(End::Gone),
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        match message {
            Message::Hold { device } => held.links.entry(device).or_default().extend(link),
            Message::RemoveShim { device, shim } => drop(held.shims.insert(device, shim)),
            Message::Forget { device } => {
                held.links.remove(&device);
                held.shims.remove(&device);
            }
            Message::Linger { linger_ns } => held.linger = Duration::from_nanos(linger_ns),
            Message::Dismiss => return Ok(End::Dismissed),
        }
    }
}

/// Removes the shims, into which nothing goes any more, and lets go of the links when nobody sends INT any more.
fn wind_up(held: Held) -> io::Result<()> {
    let Held { links, shims, linger } = held;
    thread::sleep(DRAIN);
    let mut netlink = Netlink::open()?;
    let removed = shims.values().map(|near| shim::remove(&mut netlink, *near)).fold(Ok(()), io::Result::and);
    if !links.is_empty() {
        thread::sleep(linger);
    }
    drop(links);
    removed
}
