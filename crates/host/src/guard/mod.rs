//! The guard, which cleans up after an agent that did not end normally.
//!
//! Links go with their process, so an agent that is killed starts no more INT. Other hosts continue to send
//! it until they notice, and applications must not see it. A second process, the guard, therefore holds the
//! programs that remove INT for a while longer, and then removes the shims.

mod message;
mod watch;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, Stdio};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::error::HostError;
use crate::shim::Shim;
use message::{Message, send};

pub use watch::run as keep_watch;

/// The agent's side of its guard.
#[derive(Debug)]
pub(crate) struct Guard {
    program: Command,
    child: Child,
    socket: OwnedFd,
    linger_ns: u64,
}

impl Guard {
    /// Starts the guard: `program` is to call [`keep_watch`].
    ///
    /// # Errors
    /// An error of the system.
    pub(crate) fn start(mut program: Command) -> Result<Self, HostError> {
        let (child, socket) = spawn(&mut program)?;
        Ok(Self { program, child, socket, linger_ns: 0 })
    }

    /// Starts another process if the one before has ended; returns whether that was so.
    ///
    /// # Errors
    /// An error of the system.
    pub(crate) fn renew(&mut self) -> Result<bool, HostError> {
        let ended = self.child.try_wait().map_err(|reason| HostError::system("find the guard", reason))?;
        if ended.is_none() {
            return Ok(false);
        }
        (self.child, self.socket) = spawn(&mut self.program)?;
        self.linger(self.linger_ns)?;
        Ok(true)
    }

    /// Passes `link` of the device `device` to the guard, to hold it.
    ///
    /// # Errors
    /// The guard is gone.
    pub(crate) fn hold(&self, device: u32, link: BorrowedFd<'_>) -> Result<(), HostError> {
        self.tell(Message::Hold { device }, Some(link))
    }

    /// Makes the guard remove the shim of the device `device` after the agent's death.
    ///
    /// # Errors
    /// The guard is gone.
    pub(crate) fn remove_shim(&self, device: u32, shim: Shim) -> Result<(), HostError> {
        self.tell(Message::RemoveShim { device, shim }, None)
    }

    /// Makes the guard forget the device `device`, whose programs the agent detaches itself.
    pub(crate) fn forget(&self, device: u32) {
        // A guard that is gone has released everything.
        let _ = self.tell(Message::Forget { device }, None);
    }

    /// Sets how long INT has to be removed after the agent's death.
    ///
    /// # Errors
    /// The guard is gone.
    pub(crate) fn linger(&mut self, linger_ns: u64) -> Result<(), HostError> {
        self.linger_ns = linger_ns;
        self.tell(Message::Linger { linger_ns }, None)
    }

    /// Ends the guard, which releases everything and leaves the cleanup to the agent.
    ///
    /// # Errors
    /// An error of the system.
    pub(crate) fn dismiss(mut self) -> Result<(), HostError> {
        // A guard that is gone has released everything, too.
        let _ = self.tell(Message::Dismiss, None);
        self.child.wait().map(drop).map_err(|reason| HostError::system("end the guard", reason))
    }

    fn tell(&self, message: Message, link: Option<BorrowedFd<'_>>) -> Result<(), HostError> {
        send(self.socket.as_fd(), message, link).map_err(|reason| HostError::system("tell the guard", reason))
    }
}

/// Starts the guard's process; returns the socket to it, too.
fn spawn(program: &mut Command) -> Result<(Child, OwnedFd), HostError> {
    let fault = |reason: io::Error| HostError::system("start the guard", reason);
    let (socket, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
        .map_err(|reason| fault(reason.into()))?;
    let child = program
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(fault)?;
    // Only the guard has its side of the socket, so that its end is seen.
    program.stdin(Stdio::null());
    Ok((child, socket))
}

#[cfg(test)]
mod tests;
