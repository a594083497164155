//! The guard's process, during the agent's life and after it.

use std::collections::HashMap;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread;
use std::time::Duration;

use inband_linux::netlink::Netlink;
use rustix::io::Errno;

use super::message::{Message, receive};
use crate::shim::Shim;

/// What the guard holds.
#[derive(Debug, Default)]
struct Held {
    /// By device: links, which detach when they are dropped.
    links: HashMap<u32, Vec<OwnedFd>>,
    /// By device: its shim.
    shims: HashMap<u32, Shim>,
    linger: Duration,
}

/// How the agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It has announced its end, and cleans up itself.
    Dismissed,
    /// It is gone.
    Gone,
}

/// The guard's process name.
const NAME: &CStr = c"int-guard";

/// How long packets take through a shim at most.
const DRAIN: Duration = Duration::from_millis(50);

/// Guards the agent at the other end of `socket`, until its end and for a while longer.
///
/// # Errors
/// An error of the system.
pub fn run(socket: &OwnedFd) -> io::Result<()> {
    // The guard has to survive signals to the agent's process group; this fails only if it leads a group.
    let _ = rustix::process::setsid();
    // It also has to survive `killall` with the agent's name, which it would share. Failure is harmless.
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

/// Removes the shims, which packets have ceased to enter, and releases the links once no source sends INT.
fn wind_up(held: Held) -> io::Result<()> {
    let Held { links, shims, linger } = held;
    thread::sleep(DRAIN);
    let mut netlink = Netlink::open()?;
    let removed = shims.values().map(|shim| shim.remove(&mut netlink)).fold(Ok(()), io::Result::and);
    if !links.is_empty() {
        thread::sleep(linger);
    }
    drop(links);
    removed
}
