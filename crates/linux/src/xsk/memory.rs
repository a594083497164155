//! The memory of frames, shared by program and kernel.

use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

use super::options::set;

/// The memory of frames: chunks that belong either to the program or to the kernel.
#[derive(Debug)]
pub struct FrameMemory {
    region: Arc<Region>,
    /// Empty chunks.
    free: Vec<Chunk>,
    /// Chunks lent to the kernel, by their number.
    lent: Vec<Option<Chunk>>,
    /// The first socket, which the memory is registered with: the others refer to it.
    first: Option<OwnedFd>,
}

/// One piece of the memory, of [`CHUNK_BYTES`]. It has a single owner.
pub struct Chunk {
    region: Arc<Region>,
    number: u32,
}

/// The pages of all chunks.
#[derive(Debug)]
struct Region {
    start: NonNull<u8>,
    bytes: usize,
}

/// Length of a chunk: a page, the maximum supported everywhere.
pub const CHUNK_BYTES: usize = 4_096;
/// The headroom before a received frame, for what a node adds.
///
/// The 16 bytes before a frame, where a program may write, share a cache line with its start.
pub const ROOM_BYTES: usize = 1_104;
/// The kernel's own headroom, `XDP_PACKET_HEADROOM`.
const KERNEL_ROOM_BYTES: usize = 256;

// SAFETY: the pages are ordinary memory; the owners of chunks determine who may access which of them.
unsafe impl Send for Region {}
// SAFETY: nothing is read or written through a `Region` but the chunk of its only owner.
unsafe impl Sync for Region {}

impl FrameMemory {
    /// Memory for `chunks` frames.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn new(chunks: u32) -> io::Result<Self> {
        let region = Arc::new(Region::map(usize::try_from(chunks).unwrap_or_default() * CHUNK_BYTES)?);
        let chunk = |number| Chunk { region: Arc::clone(&region), number };
        let free = (0..chunks).map(chunk).collect();
        Ok(Self { free, lent: (0..chunks).map(|_| None).collect(), region, first: None })
    }

    /// Takes an empty chunk.
    pub fn take_empty(&mut self) -> Option<Chunk> {
        self.free.pop()
    }

    /// Returns a chunk whose contents are not needed.
    pub fn give_back(&mut self, chunk: Chunk) {
        self.free.push(chunk);
    }

    /// The number of empty chunks.
    #[must_use]
    pub fn empty(&self) -> usize {
        self.free.len()
    }

    /// Registers the memory with the first socket; returns that socket to the others.
    pub(super) fn register(&self, socket: &OwnedFd) -> io::Result<Option<BorrowedFd<'_>>> {
        if let Some(first) = &self.first {
            return Ok(Some(first.as_fd()));
        }
        let narrow = |number: usize| u32::try_from(number).map_err(|_| io::ErrorKind::InvalidInput);
        let registration = Registration {
            start: self.region.start.as_ptr() as u64,
            bytes: self.region.bytes as u64,
            chunk_bytes: narrow(CHUNK_BYTES)?,
            headroom: narrow(ROOM_BYTES - KERNEL_ROOM_BYTES)?,
            flags: 0,
            metadata_bytes: 0,
        };
        set(socket, libc::SOL_XDP, libc::XDP_UMEM_REG, &registration)?;
        Ok(None)
    }

    /// Records a socket that is bound: the first one stays open as long as this value.
    pub(super) fn bound(&mut self, socket: &OwnedFd) -> io::Result<()> {
        if self.first.is_none() {
            self.first = Some(socket.try_clone()?);
        }
        Ok(())
    }

    /// Lends an empty chunk to the kernel; returns its address.
    pub(super) fn lend_empty(&mut self) -> Option<u64> {
        let chunk = self.free.pop()?;
        Some(self.lend(chunk, 0))
    }

    /// Lends a chunk with a frame at this offset to the kernel; returns its address.
    pub(super) fn lend(&mut self, chunk: Chunk, at: usize) -> u64 {
        let number = chunk.number;
        if let Some(place) = self.lent.get_mut(number as usize) {
            *place = Some(chunk);
        }
        u64::from(number) * CHUNK_BYTES as u64 + at as u64
    }

    /// Prefetches the start of a frame that will be read soon.
    pub(super) fn prefetch(&self, address: u64) {
        let Ok(at) = usize::try_from(address) else { return };
        if at.saturating_add(CACHE_LINE_BYTES) < self.region.bytes {
            // SAFETY: both addresses are in the region; the program neither reads nor writes them.
            unsafe {
                fetch(self.region.start.as_ptr().add(at));
                fetch(self.region.start.as_ptr().add(at + CACHE_LINE_BYTES));
            }
        }
    }

    /// Takes the chunk at this address back from the kernel; returns the offset in it, too. `None`: it was
    /// not lent.
    pub(super) fn take_back(&mut self, address: u64) -> Option<(Chunk, usize)> {
        let address = usize::try_from(address).ok()?;
        let chunk = self.lent.get_mut(address / CHUNK_BYTES)?.take()?;
        Some((chunk, address % CHUNK_BYTES))
    }
}

/// Prefetches a cache line.
///
/// # Safety
/// The address is in mapped memory.
#[cfg(target_arch = "x86_64")]
unsafe fn fetch(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: the instruction is part of every x86-64 processor and changes nothing but caches.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn fetch(_: *const u8) {}

const CACHE_LINE_BYTES: usize = 64;

impl Deref for Chunk {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the chunk's number is below the number of chunks of the region, which lives as long as this, and its
        // bytes are initialised; the chunk has a single owner, as the kernel has only chunks in `lent`.
        unsafe { slice::from_raw_parts(self.start(), CHUNK_BYTES) }
    }
}

impl DerefMut for Chunk {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and the chunk is borrowed for writing.
        unsafe { slice::from_raw_parts_mut(self.start(), CHUNK_BYTES) }
    }
}

impl Chunk {
    fn start(&self) -> *mut u8 {
        // SAFETY: the number is below the number of chunks of the region, so that the result is within it.
        unsafe { self.region.start.as_ptr().add(self.number as usize * CHUNK_BYTES) }
    }
}

impl fmt::Debug for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Chunk").field(&self.number).finish()
    }
}

impl Region {
    fn map(bytes: usize) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: the kernel chooses where the new pages are, which hold zeros.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start: NonNull<u8> = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let region = Self { start, bytes };
        // Prefers few large pages to many small ones, if the kernel has them; all of them are then present
        // before the first frame.
        // SAFETY: the range is that of the mapping just made.
        unsafe {
            libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE);
            libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_POPULATE_WRITE);
        }
        Ok(region)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the pages were mapped with this length, and no chunk is left that is in them. The kernel holds on to
        // those that its sockets still use.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// `struct xdp_umem_reg`.
#[repr(C)]
struct Registration {
    start: u64,
    bytes: u64,
    chunk_bytes: u32,
    headroom: u32,
    flags: u32,
    metadata_bytes: u32,
}
