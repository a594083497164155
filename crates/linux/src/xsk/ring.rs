//! A ring of entries in memory shared by program and kernel: one produces them, the other consumes them.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

/// One ring, of which the program is either the producer or the consumer.
#[derive(Debug)]
pub(super) struct Ring<T> {
    pages: Pages,
    producer: NonNull<AtomicU32>,
    consumer: NonNull<AtomicU32>,
    flags: NonNull<AtomicU32>,
    entries: NonNull<T>,
    /// Entries, a power of two.
    size: u32,
    /// The number of entries that the program has produced, or consumed, modulo 2^32.
    own: u32,
    /// The kernel's number as last read.
    theirs: u32,
}

// SAFETY: the pages belong to this ring alone, and its owner is the only user of them in the program.
unsafe impl<T: Send> Send for Ring<T> {}

#[derive(Debug)]
struct Pages {
    start: NonNull<u8>,
    bytes: usize,
}

impl<T: Copy> Ring<T> {
    /// Maps the ring of `size` entries at `offset` of the socket.
    pub(super) fn map(
        socket: &OwnedFd,
        offset: libc::off_t,
        places: &libc::xdp_ring_offset,
        size: u32,
    ) -> io::Result<Self> {
        let place = |at: u64| usize::try_from(at).map_err(|_| io::ErrorKind::Unsupported);
        let (producer, consumer) = (place(places.producer)?, place(places.consumer)?);
        let (flags, entries) = (place(places.flags)?, place(places.desc)?);
        let bytes = entries.saturating_add((size as usize).saturating_mul(size_of::<T>()));
        let is_inside =
            |at: usize| at.is_multiple_of(size_of::<u32>()) && at.saturating_add(size_of::<u32>()) <= bytes;
        let is_usable = [producer, consumer, flags].into_iter().all(is_inside)
            && entries.is_multiple_of(align_of::<T>())
            && size.is_power_of_two();
        if !is_usable {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let pages = Pages::map(socket, offset, bytes)?;
        // SAFETY: all four places are inside the pages and aligned, as was just checked; pages are aligned to more.
        let (producer, consumer, flags, entries) = unsafe {
            (
                pages.start.add(producer).cast(),
                pages.start.add(consumer).cast(),
                pages.start.add(flags).cast(),
                pages.start.add(entries).cast(),
            )
        };
        Ok(Self { pages, producer, consumer, flags, entries, size, own: 0, theirs: 0 })
    }

    /// Takes the next entry that the kernel has produced.
    #[inline]
    pub(super) fn take(&mut self) -> Option<T> {
        if self.own == self.theirs {
            self.theirs = self.shared(self.producer).load(Ordering::Acquire);
            if self.own == self.theirs {
                return None;
            }
        }
        // SAFETY: the index is below the size, and the kernel has written this entry before its producer passed it.
        let entry = unsafe { self.entries.add((self.own & (self.size - 1)) as usize).read() };
        self.own = self.own.wrapping_add(1);
        Some(entry)
    }

    /// Lets the kernel reuse the places of consumed entries.
    pub(super) fn release(&self) {
        self.shared(self.consumer).store(self.own, Ordering::Release);
    }

    /// Whether another entry fits.
    #[inline]
    pub(super) fn has_room(&mut self) -> bool {
        if self.own.wrapping_sub(self.theirs) < self.size {
            return true;
        }
        self.theirs = self.shared(self.consumer).load(Ordering::Acquire);
        self.own.wrapping_sub(self.theirs) < self.size
    }

    /// Adds an entry, where [there is room](Self::has_room); the kernel sees it from
    /// [`publish`](Self::publish) on.
    #[inline]
    pub(super) fn put(&mut self, entry: T) {
        // SAFETY: the index is below the size, and the kernel does not read this entry before the producer passes it.
        unsafe { self.entries.add((self.own & (self.size - 1)) as usize).write(entry) };
        self.own = self.own.wrapping_add(1);
    }

    /// The entries added last, at most as many as the ring holds, the earliest first.
    pub(super) fn last(&self, count: u32) -> impl Iterator<Item = T> {
        let count = count.min(self.size);
        (0..count).map(move |number| {
            let at = self.own.wrapping_sub(count - number) & (self.size - 1);
            // SAFETY: the index is below the size, and the kernel does not write to entries that the program produces.
            unsafe { self.entries.add(at as usize).read() }
        })
    }

    /// Makes added entries visible to the kernel.
    pub(super) fn publish(&self) {
        self.shared(self.producer).store(self.own, Ordering::Release);
    }

    /// The number of entries that the kernel has not consumed yet.
    pub(super) fn unconsumed(&mut self) -> u32 {
        self.theirs = self.shared(self.consumer).load(Ordering::Acquire);
        self.own.wrapping_sub(self.theirs)
    }

    /// Whether the kernel checks the ring only after a wakeup.
    pub(super) fn needs_wakeup(&self) -> bool {
        self.shared(self.flags).load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }

    fn shared(&self, number: NonNull<AtomicU32>) -> &AtomicU32 {
        debug_assert!(self.pages.bytes > 0);
        // SAFETY: the number is inside the pages, which live as long as this, and is changed by atomic operations alone.
        unsafe { number.as_ref() }
    }
}

impl Pages {
    fn map(socket: &OwnedFd, offset: libc::off_t, bytes: usize) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        // SAFETY: the kernel chooses where the pages are, which are those of the socket's ring.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, socket.as_raw_fd(), offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, bytes })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the pages were mapped with this length, and the ring they are of goes with them.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
