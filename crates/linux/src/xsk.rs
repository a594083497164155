//! Frames of one receive queue, in memory shared by program and kernel (AF_XDP).
//!
//! An XDP program decides which frames of a queue come here; the kernel's stack does not see those. Sockets
//! of several devices share one [`FrameMemory`], so that a frame can leave from the memory it arrived in.

mod memory;
mod options;
mod ring;

use std::io;
use std::mem::{size_of, zeroed};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

pub use self::memory::{CHUNK_BYTES, Chunk, FrameMemory, ROOM_BYTES};
use self::options::{check, get, set};
use self::ring::Ring;

/// A socket for the frames of one receive queue of a device. It never blocks.
#[derive(Debug)]
pub struct RingSocket {
    socket: OwnedFd,
    fill: Ring<u64>,
    received: Ring<libc::xdp_desc>,
    send: Ring<libc::xdp_desc>,
    completed: Ring<u64>,
    /// Frames passed to the kernel but not sent yet, and their maximum number.
    unsent: u32,
    most_unsent: u32,
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

/// Whether the kernel copies frames between its memory and that of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moving {
    /// Only where the driver cannot use the program's memory.
    IfNeeded,
    /// Always: it works with every driver.
    Always,
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
/// Minimum number of frames that the kernel sends in one call.
const SENT_AT_ONCE: u32 = 32;
/// Buffer size for frames that the device has not sent, bytes.
const SEND_BYTES: libc::c_int = 64 << 20;

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
        // SAFETY: the call takes three integers and returns a descriptor, or a negative number.
        let fd = check(unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) })?;
        // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        // Without the privilege the default size is used.
        let _ = set(&socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BYTES);
        let shared = memory.register(&socket)?;
        let Ready { received, sent } = ready;
        for (ring, frames) in [
            (libc::XDP_UMEM_FILL_RING, received),
            (libc::XDP_UMEM_COMPLETION_RING, sent),
            (libc::XDP_RX_RING, received),
            (libc::XDP_TX_RING, sent),
        ] {
            set(&socket, libc::SOL_XDP, ring, &frames)?;
        }
        let offsets = offsets(&socket)?;
        let (fill_at, completed_at) = (libc::XDP_UMEM_PGOFF_FILL_RING, libc::XDP_UMEM_PGOFF_COMPLETION_RING);
        let wide = |at: libc::c_ulonglong| libc::off_t::try_from(at).map_err(|_| io::ErrorKind::Unsupported);
        let (fill_at, completed_at) = (wide(fill_at)?, wide(completed_at)?);
        let rings = Self {
            fill: Ring::map(&socket, fill_at, &offsets.fr, received)?,
            received: Ring::map(&socket, libc::XDP_PGOFF_RX_RING, &offsets.rx, received)?,
            send: Ring::map(&socket, libc::XDP_PGOFF_TX_RING, &offsets.tx, sent)?,
            completed: Ring::map(&socket, completed_at, &offsets.cr, sent)?,
            socket,
            unsent: 0,
            most_unsent: sent,
            losses: 0,
        };
        bind(&rings.socket, device, queue, shared, moving)?;
        memory.bound(&rings.socket)?;
        Ok(rings)
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
        let length = u32::try_from(range.len()).unwrap_or(u32::MAX);
        if !self.send.has_room() || self.unsent >= self.most_unsent {
            return Err(chunk);
        }
        let addr = memory.lend(chunk, range.start);
        self.send.put(libc::xdp_desc { addr, len: length, options: 0 });
        self.unsent += 1;
        Ok(())
    }

    /// Makes the kernel send the queued frames, and takes back the chunks of those it has sent.
    ///
    /// # Errors
    /// An error of the kernel, other than a lack of room.
    pub fn flush(&mut self, memory: &mut FrameMemory) -> io::Result<()> {
        self.reclaim(memory);
        self.send.publish();
        let mut left = self.send.unconsumed();
        // A frame that the device refuses also leaves the ring.
        for _ in 0..=self.most_unsent / SENT_AT_ONCE {
            if left == 0 || !self.send.needs_wakeup() {
                break;
            }
            // SAFETY: without a buffer and an address the call reads nothing.
            let sent = unsafe {
                libc::sendto(self.socket.as_raw_fd(), ptr::null(), 0, libc::MSG_DONTWAIT, ptr::null(), 0)
            };
            let failed = (sent < 0).then(io::Error::last_os_error);
            let now_left = self.send.unconsumed();
            match failed {
                // The device is down or gone: queued frames wait.
                Some(error) if matches!(error.raw_os_error(), Some(libc::ENETDOWN | libc::ENXIO)) => {
                    return Err(error);
                }
                Some(_) if now_left == left => break,
                _ => left = now_left,
            }
        }
        self.reclaim(memory);
        Ok(())
    }

    fn reclaim(&mut self, memory: &mut FrameMemory) {
        while let Some(address) = self.completed.take() {
            self.unsent = self.unsent.saturating_sub(1);
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

/// Binds the socket to its queue; `shared` is the socket whose memory it uses.
fn bind(
    socket: &OwnedFd,
    device: u32,
    queue: u32,
    shared: Option<BorrowedFd<'_>>,
    moving: Moving,
) -> io::Result<()> {
    let first = match moving {
        Moving::IfNeeded => libc::XDP_USE_NEED_WAKEUP,
        Moving::Always => libc::XDP_USE_NEED_WAKEUP | libc::XDP_COPY,
    };
    // Sockets that share memory use the mode of the first one.
    let address = libc::sockaddr_xdp {
        sxdp_family: u16::try_from(libc::AF_XDP).unwrap_or_default(),
        sxdp_flags: if shared.is_some() { libc::XDP_SHARED_UMEM } else { first },
        sxdp_ifindex: device,
        sxdp_queue_id: queue,
        sxdp_shared_umem_fd: shared.map_or(0, |fd| u32::try_from(fd.as_raw_fd()).unwrap_or_default()),
    };
    let length = u32::try_from(size_of::<libc::sockaddr_xdp>()).unwrap_or_default();
    // SAFETY: the pointer is to a live address of the length given, which the call only reads.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(())
}

fn offsets(socket: &OwnedFd) -> io::Result<libc::xdp_mmap_offsets> {
    // SAFETY: all fields of the structure are integers, for which zeros are values.
    let mut offsets: libc::xdp_mmap_offsets = unsafe { zeroed() };
    get(socket, libc::XDP_MMAP_OFFSETS, &mut offsets)?;
    Ok(offsets)
}
