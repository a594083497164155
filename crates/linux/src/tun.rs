//! A device whose other end is this program.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// A device that passes frames sent into it to this program; it ends with the program.
#[derive(Debug)]
pub struct Tun {
    file: File,
    name: String,
}

/// `struct ifreq`, as far as flags go.
#[repr(C)]
struct Request {
    name: [u8; NAME_BYTES],
    flags: u16,
    padding: [u8; 22],
}

impl Tun {
    /// Creates an Ethernet device in this thread's network namespace, which is down. `%d` in `pattern` is
    /// replaced by the first free number. Frames are complete: segments are cut, and checksums are complete.
    ///
    /// # Errors
    /// An error of the kernel, for example that this user may not.
    pub fn create(pattern: &str) -> io::Result<Self> {
        let file =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
        let mut request = Request { name: [0; NAME_BYTES], flags: TAP | NO_INFORMATION, padding: [0; 22] };
        for (to, from) in request.name.iter_mut().take(NAME_BYTES - 1).zip(pattern.bytes()) {
            *to = from;
        }
        // SAFETY: the pointer is to a live `struct ifreq`, which the call reads and writes.
        let done = unsafe { libc::ioctl(file.as_raw_fd(), SET_INTERFACE, &raw mut request) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        let name = request.name.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte)).collect();
        Ok(Self { file, name })
    }

    /// The device's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the next frame into `buffer`, and returns its length; `None`: no frame is pending.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.file.read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// `IFNAMSIZ`.
const NAME_BYTES: usize = 16;
/// `IFF_TAP` and `IFF_NO_PI`.
const TAP: u16 = 0x0002;
const NO_INFORMATION: u16 = 0x1000;
/// `TUNSETIFF`.
const SET_INTERFACE: libc::Ioctl = 0x4004_54ca;
