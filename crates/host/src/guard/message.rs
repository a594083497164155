//! Messages from the agent to its guard: one datagram each, with at most one descriptor.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use crate::shim::Shim;

/// A message of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// Hold the attached link.
    Hold { device: u32 },
    /// Remove this shim after the agent's death.
    RemoveShim { device: u32, shim: Shim },
    /// Release what belongs to this device.
    Forget { device: u32 },
    /// Hold links for this time after the agent's death.
    Linger { linger_ns: u64 },
    /// Release everything and exit.
    Dismiss,
}

/// The kind, a device, and one number of 64 bits or two of 32.
const MESSAGE_BYTES: usize = 13;

impl Message {
    pub(super) fn to_bytes(self) -> [u8; MESSAGE_BYTES] {
        let (kind, device, number) = match self {
            Self::Hold { device } => (1, device, 0),
            Self::RemoveShim { device, shim } => {
                (2, device, u64::from(shim.near) << 32 | u64::from(shim.far))
            }
            Self::Forget { device } => (3, device, 0),
            Self::Linger { linger_ns } => (4, 0, linger_ns),
            Self::Dismiss => (5, 0, 0),
        };
        let ([a, b, c, d], [e, f, g, h, i, j, k, l]) = (device.to_ne_bytes(), number.to_ne_bytes());
        [kind, a, b, c, d, e, f, g, h, i, j, k, l]
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let (device, number) = rest.split_first_chunk()?;
        let (device, number) = (u32::from_ne_bytes(*device), u64::from_ne_bytes(number.try_into().ok()?));
        let [near, far] =
            [number >> 32, number & 0xffff_ffff].map(|half| u32::try_from(half).unwrap_or_default());
        match kind {
            1 => Some(Self::Hold { device }),
            2 => Some(Self::RemoveShim { device, shim: Shim { near, far } }),
            3 => Some(Self::Forget { device }),
            4 => Some(Self::Linger { linger_ns: number }),
            5 => Some(Self::Dismiss),
            _ => None,
        }
    }
}

/// Sends a message.
///
/// # Errors
/// An error of the system.
pub(super) fn send(socket: BorrowedFd<'_>, message: Message, link: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let bytes = message.to_bytes();
    let links: Vec<_> = link.into_iter().collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !links.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(&links));
    }
    sendmsg(socket, &[IoSlice::new(&bytes)], &mut ancillary, SendFlags::NOSIGNAL).map(drop)
}

/// Waits for a message; `None`: the other side is gone, or sent an unknown message.
///
/// # Errors
/// An error of the system.
pub(super) fn receive(socket: BorrowedFd<'_>) -> io::Result<Option<(Message, Option<OwnedFd>)>> {
    let mut bytes = [0; MESSAGE_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received =
        recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let link = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut links) => links.next(),
        _ => None,
    });
    let message = bytes.get(..received.bytes).and_then(Message::from_bytes);
    Ok(message.map(|message| (message, link)))
}
