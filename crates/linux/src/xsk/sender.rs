//! The sending side of a queue.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;

use super::memory::{Chunk, FrameMemory};
use super::options::{Bound, bind, offsets, open, set};
use super::ring::Ring;

/// The sending side of a queue: a socket of its own, on the memory and the queue of the one that receives.
///
/// Only its end takes frames out of its ring that the kernel has not taken.
#[derive(Debug)]
pub(super) struct Sender {
    device: u32,
    queue: u32,
    /// Entries of its ring, and the maximum number of frames lent to the kernel.
    room: u32,
    /// Whether the kernel copies frames: one call sends them, or tells that the device drops one.
    is_copying: bool,
    /// `None`: it could not be opened since its last end.
    socket: Option<Socket>,
    /// Whether the device was down when the kernel was last asked.
    is_down: bool,
    /// Frames lent to the kernel: those in the ring, and those that the device has not sent yet.
    lent: u32,
    /// Frames in the ring.
    waiting: u32,
    waiting_bytes: u64,
}

/// An open socket, and the ring of frames to send.
#[derive(Debug)]
struct Socket {
    socket: OwnedFd,
    ring: Ring<libc::xdp_desc>,
}

/// The frames that have left a ring.
#[derive(Debug, Default)]
pub struct Flushed {
    /// Those that the device has taken.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Those that it has not: dropped by it, or withdrawn because it is down.
    pub refused: u64,
    /// The kernel's error, if the device is down or gone.
    pub error: Option<io::Error>,
}

impl Sender {
    /// Opens the sending side of `receiver`, the socket bound to this queue of a device.
    pub(super) fn open(
        receiver: &OwnedFd,
        (device, queue): (u32, u32),
        room: u32,
        is_copying: bool,
    ) -> io::Result<Self> {
        let socket = Some(Socket::open(receiver, (device, queue), room)?);
        let is_down = false;
        Ok(Self { device, queue, room, is_copying, socket, is_down, lent: 0, waiting: 0, waiting_bytes: 0 })
    }

    /// Queues a frame to be sent with the next [`flush`](Self::flush); returns the chunk where there is no
    /// room.
    pub(super) fn send(
        &mut self,
        memory: &mut FrameMemory,
        chunk: Chunk,
        range: &Range<usize>,
    ) -> Result<(), Chunk> {
        let Some(socket) = self.socket.as_mut().filter(|_| self.lent < self.room) else { return Err(chunk) };
        if !socket.ring.has_room() {
            return Err(chunk);
        }
        let len = u32::try_from(range.len()).unwrap_or(u32::MAX);
        let addr = memory.lend(chunk, range.start);
        socket.ring.put(libc::xdp_desc { addr, len, options: 0 });
        self.lent += 1;
        self.waiting += 1;
        self.waiting_bytes += u64::from(len);
        Ok(())
    }

    /// Checks whether a device that was down takes frames; makes no system call otherwise.
    pub(super) fn check(&mut self, receiver: &OwnedFd) -> io::Result<()> {
        if !self.is_down {
            return Ok(());
        }
        let socket = match self.socket.take() {
            Some(socket) => socket,
            None => Socket::open(receiver, (self.device, self.queue), self.room)?,
        };
        let woken = self.socket.insert(socket).wake();
        self.is_down = woken.as_ref().is_err_and(is_down);
        if self.is_down { woken } else { Ok(()) }
    }

    /// Makes the kernel send the queued frames. Those that a device does not take because it is down leave
    /// the ring as well.
    pub(super) fn flush(&mut self, memory: &mut FrameMemory, receiver: &OwnedFd) -> Flushed {
        let mut flushed = Flushed::default();
        let Some(Socket { ring, .. }) = &mut self.socket else { return flushed };
        ring.publish();
        let mut left = ring.unconsumed();
        let mut refused_bytes = 0;
        // A frame leaves the ring in each round.
        for _ in 0..=self.room {
            let Some(socket) = &mut self.socket else { break };
            if left == 0 || !socket.ring.needs_wakeup() {
                break;
            }
            let woken = socket.wake();
            let before = std::mem::replace(&mut left, socket.ring.unconsumed());
            match woken {
                Err(error) if is_down(&error) => {
                    flushed.error = Some(error);
                    break;
                }
                _ if left == before => break,
                // The device has dropped the last frame that left the ring.
                Err(error) if self.is_copying && error.raw_os_error() == Some(libc::EBUSY) => {
                    flushed.refused += 1;
                    refused_bytes +=
                        socket.ring.last(left + 1).next().map_or(0, |entry| u64::from(entry.len));
                }
                _ => {}
            }
        }
        let left_bytes = self.bytes_of_last(left);
        flushed.sent = u64::from(self.waiting.saturating_sub(left)).saturating_sub(flushed.refused);
        flushed.sent_bytes = self.waiting_bytes.saturating_sub(left_bytes + refused_bytes);
        (self.waiting, self.waiting_bytes) = (left, left_bytes);
        if flushed.error.is_some() {
            self.is_down = true;
            flushed.refused += self.withdraw(memory, receiver);
        }
        flushed
    }

    /// Takes back the frames that the kernel has not taken; returns their number.
    pub(super) fn withdraw(&mut self, memory: &mut FrameMemory, receiver: &OwnedFd) -> u64 {
        let withdrawn = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        let Some(socket) = self.socket.take_if(|_| withdrawn > 0) else { return 0 };
        let entries: Vec<_> = socket.ring.last(withdrawn).collect();
        // The kernel reads the ring until the socket and its mapping are closed.
        drop(socket);
        for entry in entries {
            if let Some((chunk, _)) = memory.take_back(entry.addr) {
                memory.give_back(chunk);
            }
        }
        self.lent = self.lent.saturating_sub(withdrawn);
        // The next check tries again; without the receiver's device there is nothing to send to.
        self.socket = Socket::open(receiver, (self.device, self.queue), self.room).ok();
        self.is_down |= self.socket.is_none();
        u64::from(withdrawn)
    }

    /// Counts a frame that the device has sent.
    pub(super) fn count_completed(&mut self) {
        self.lent = self.lent.saturating_sub(1);
    }

    /// The number of frames that the kernel has not taken yet.
    pub(super) fn waiting(&self) -> u32 {
        self.waiting
    }

    /// The socket, for polling.
    pub(super) fn socket(&self) -> Option<BorrowedFd<'_>> {
        self.socket.as_ref().map(|socket| socket.socket.as_fd())
    }

    fn bytes_of_last(&self, count: u32) -> u64 {
        let Some(socket) = self.socket.as_ref().filter(|_| count > 0) else { return 0 };
        socket.ring.last(count).map(|entry| u64::from(entry.len)).sum()
    }
}

impl Socket {
    fn open(receiver: &OwnedFd, place: (u32, u32), room: u32) -> io::Result<Self> {
        let socket = open()?;
        // Without the privilege the default size is used.
        let _ = set(&socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BYTES);
        set(&socket, libc::SOL_XDP, libc::XDP_TX_RING, &room)?;
        let ring = Ring::map(&socket, libc::XDP_PGOFF_TX_RING, &offsets(&socket)?.tx, room)?;
        bind(&socket, place, Bound::WithMemoryOf(receiver.as_fd()))?;
        Ok(Self { socket, ring })
    }

    /// Makes the kernel send frames of the ring.
    fn wake(&self) -> io::Result<()> {
        // SAFETY: without a buffer and an address the call reads nothing.
        let sent = unsafe {
            libc::sendto(self.socket.as_raw_fd(), ptr::null(), 0, libc::MSG_DONTWAIT, ptr::null(), 0)
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// Whether an error means that the device is down or gone.
fn is_down(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENETDOWN | libc::ENXIO))
}

/// Buffer size for frames that the device has not sent, bytes.
const SEND_BYTES: libc::c_int = 64 << 20;
