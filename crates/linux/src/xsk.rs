//! Frames of one receive queue, in memory shared by program and kernel (AF_XDP).
//!
//! An XDP program decides which frames of a queue come here; the kernel's stack does not see those. Sockets
//! of several devices share one [`FrameMemory`], so that a frame can leave from the memory it arrived in.

mod memory;
mod options;
mod ring;
mod sender;

use std::io;
use std::mem::zeroed;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;

pub use self::memory::{CHUNK_BYTES, Chunk, FrameMemory, ROOM_BYTES};
pub use self::options::Moving;
use self::options::{Bound, bind, get, offsets, open, set};
use self::ring::Ring;
pub use self::sender::Flushed;
use self::sender::Sender;

/// A socket for the frames of one receive queue of a device. It never blocks.
#[derive(Debug)]
pub struct RingSocket {
    socket: OwnedFd,
    /// `None`: it only receives.
    sender: Option<Sender>,
    /// Index of its device, and its queue.
    place: (u32, u32),
    ready: Ready,
    fill: Ring<u64>,
    received: Ring<libc::xdp_desc>,
    completed: Ring<u64>,
    losses: u64,
}

/// A frame that has arrived.
#[derive(Debug)]
pub struct Arrived {
    /// The chunk that holds it.
    pub chunk: Chunk,
    /// Its range in the chunk.
    pub range: Range<usize>,
}

/// The sizes of a socket's rings, in frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    received: u32,
    sent: u32,
}

impl Ready {
    /// Sizes for this many sockets in total: the more there are, the smaller the rings of each.
    #[must_use]
    pub const fn of(sockets: u32) -> Self {
        let received = match sockets {
            0..=4 => 4_096,
            5..=16 => 2_048,
            _ => 1_024,
        };
        Self { received, sent: 1_024 }
    }

    /// The maximum number of chunks that `sockets` sockets use.
    #[must_use]
    pub const fn chunks(self, sockets: u32) -> u32 {
        (self.received + self.sent).saturating_mul(sockets)
    }
}

/// Maximum number of frames taken, or passed on, at a time.
const MAX_FRAMES: u32 = 64;

impl RingSocket {
    /// Opens a socket for a receive queue of the device with this interface index, on `memory`.
    ///
    /// # Errors
    /// An error of the kernel, for example that this user may not, or that the driver runs no programs.
    pub fn open(
        memory: &mut FrameMemory,
        device: u32,
        queue: u32,
        ready: Ready,
        moving: Moving,
    ) -> io::Result<Self> {
        let socket = open()?;
        let bound = memory.register(&socket)?.map_or(Bound::WithOwnMemory(moving), Bound::WithMemoryOf);
        let Ready { received, sent } = ready;
        for (ring, frames) in [
            (libc::XDP_UMEM_FILL_RING, received),
            (libc::XDP_UMEM_COMPLETION_RING, sent),
            (libc::XDP_RX_RING, received),
        ] {
            set(&socket, libc::SOL_XDP, ring, &frames)?;
        }
        let offsets = offsets(&socket)?;
        let (fill_at, completed_at) = (libc::XDP_UMEM_PGOFF_FILL_RING, libc::XDP_UMEM_PGOFF_COMPLETION_RING);
        let wide = |at: libc::c_ulonglong| libc::off_t::try_from(at).map_err(|_| io::ErrorKind::Unsupported);
        let (fill_at, completed_at) = (wide(fill_at)?, wide(completed_at)?);
        let fill = Ring::map(&socket, fill_at, &offsets.fr, received)?;
        let arriving = Ring::map(&socket, libc::XDP_PGOFF_RX_RING, &offsets.rx, received)?;
        let completed = Ring::map(&socket, completed_at, &offsets.cr, sent)?;
        bind(&socket, (device, queue), bound)?;
        memory.bound(&socket)?;
        let place = (device, queue);
        Ok(Self { socket, sender: None, place, ready, fill, received: arriving, completed, losses: 0 })
    }

    /// Makes the socket able to send.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn open_sender(&mut self) -> io::Result<()> {
        let is_copying = !self.is_zero_copy()?;
        self.sender = Some(Sender::open(&self.socket, self.place, self.ready.sent, is_copying)?);
        Ok(())
    }

    /// Passes pending frames to `take`, at most 64, and gives the kernel chunks for as many more; returns
    /// their number.
    pub fn receive(
        &mut self,
        memory: &mut FrameMemory,
        mut take: impl FnMut(&mut FrameMemory, Arrived),
    ) -> u32 {
        let mut count = 0;
        while count < MAX_FRAMES {
            let Some(descriptor) = self.received.take() else { break };
            count += 1;
            memory.prefetch(descriptor.addr);
            // Only chunks that were lent to the kernel are accepted from it.
            if let Some((chunk, at)) = memory.take_back(descriptor.addr) {
                let length = usize::try_from(descriptor.len).unwrap_or(usize::MAX);
                let range = at..at.saturating_add(length).min(CHUNK_BYTES);
                take(memory, Arrived { chunk, range });
            }
        }
        self.received.release();
        self.fill(memory);
        count
    }

    /// Gives the kernel chunks for incoming frames, as many as its ring holds.
    pub fn fill(&mut self, memory: &mut FrameMemory) {
        while self.fill.has_room() {
            let Some(address) = memory.lend_empty() else { break };
            self.fill.put(address);
        }
        self.fill.publish();
        if self.fill.needs_wakeup() {
            // SAFETY: without a buffer the call writes nothing; it makes the driver look for memory.
            let _ = unsafe {
                libc::recvfrom(
                    self.socket.as_raw_fd(),
                    ptr::null_mut(),
                    0,
                    libc::MSG_DONTWAIT,
                    ptr::null_mut(),
                    ptr::null_mut(),
                )
            };
        }
    }

    /// Queues a frame to be sent with the next [`flush`](Self::flush).
    ///
    /// # Errors
    /// The chunk, if there is no room.
    pub fn send(&mut self, memory: &mut FrameMemory, chunk: Chunk, range: Range<usize>) -> Result<(), Chunk> {
        match &mut self.sender {
            Some(sender) => sender.send(memory, chunk, &range),
            None => Err(chunk),
        }
    }

    /// Checks that the device takes frames, if it was down at the last [`flush`](Self::flush).
    ///
    /// # Errors
    /// The kernel's error: it is still down, or gone.
    pub fn check(&mut self) -> io::Result<()> {
        self.sender.as_mut().map_or(Ok(()), |sender| sender.check(&self.socket))
    }

    /// Makes the kernel send the queued frames, and takes back the chunks of those it has sent. If the device
    /// is down, or gone, no frame stays queued.
    pub fn flush(&mut self, memory: &mut FrameMemory) -> Flushed {
        self.reclaim(memory);
        let flushed = self.sender.as_mut().map(|sender| sender.flush(memory, &self.socket));
        self.reclaim(memory);
        flushed.unwrap_or_default()
    }

    /// Takes back the queued frames that the kernel has not taken; returns their number.
    pub fn withdraw(&mut self, memory: &mut FrameMemory) -> u64 {
        self.sender.as_mut().map_or(0, |sender| sender.withdraw(memory, &self.socket))
    }

    /// The number of queued frames that the kernel has not taken yet.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.sender.as_ref().map_or(0, Sender::waiting)
    }

    /// The socket that sends, for polling; `None`: it is closed.
    #[must_use]
    pub fn sending(&self) -> Option<BorrowedFd<'_>> {
        self.sender.as_ref().and_then(Sender::socket)
    }

    fn reclaim(&mut self, memory: &mut FrameMemory) {
        while let Some(address) = self.completed.take() {
            if let Some(sender) = &mut self.sender {
                sender.count_completed();
            }
            if let Some((chunk, _)) = memory.take_back(address) {
                memory.give_back(chunk);
            }
        }
        self.completed.release();
    }

    /// The number of frames lost since the last call for want of room.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn take_losses(&mut self) -> io::Result<u64> {
        // SAFETY: all fields of the structure are integers, for which zeros are values.
        let mut statistics: libc::xdp_statistics = unsafe { zeroed() };
        get(&self.socket, libc::XDP_STATISTICS, &mut statistics)?;
        // Frames without memory are among those dropped.
        let losses = statistics.rx_dropped.wrapping_add(statistics.rx_ring_full);
        let new = losses.wrapping_sub(self.losses);
        self.losses = losses;
        Ok(new)
    }

    /// Whether the driver uses the program's memory, so that frames are not copied.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn is_zero_copy(&self) -> io::Result<bool> {
        let mut options = libc::xdp_options { flags: 0 };
        get(&self.socket, libc::XDP_OPTIONS, &mut options)?;
        Ok(options.flags & libc::XDP_OPTIONS_ZEROCOPY != 0)
    }
}

impl AsFd for RingSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
