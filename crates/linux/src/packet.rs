//! Raw frames, sent by a device.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const SEND_BYTES: u32 = 16 << 20;
const INTEGER_BYTES: libc::socklen_t = 4;

/// A socket that sends frames unchanged, and receives none.
#[derive(Debug)]
pub struct PacketSocket(OwnedFd);

impl PacketSocket {
    /// Opens the socket, in the network namespace of this thread.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn open() -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: the call takes three integers and returns a descriptor, or a negative number.
        let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Sets `mark` on the frames sent from here on, and enlarges the buffer of unsent frames to 16 MiB.
    ///
    /// # Errors
    /// An error of the kernel, for example that this user may not.
    pub fn set_mark(&self, mark: u32) -> io::Result<()> {
        self.set(libc::SO_MARK, mark)?;
        // Without the privilege the default size is used.
        let _ = self.set(libc::SO_SNDBUFFORCE, SEND_BYTES);
        Ok(())
    }

    fn set(&self, option: libc::c_int, value: u32) -> io::Result<()> {
        let (fd, value) = (self.0.as_raw_fd(), &raw const value);
        // SAFETY: the pointer is to a live integer of the length given, which the call only reads.
        let done = unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, option, value.cast(), INTEGER_BYTES) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Sends `frame`, which begins with an Ethernet header, by the interface with this index.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn send(&self, frame: &[u8], interface: u32) -> io::Result<()> {
        let invalid = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let ethertype = frame.get(12..14).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; 2]);
        let address = libc::sockaddr_ll {
            sll_family: u16::try_from(libc::AF_PACKET).map_err(invalid)?,
            sll_protocol: u16::from_ne_bytes(ethertype),
            sll_ifindex: i32::try_from(interface).map_err(invalid)?,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let length = u32::try_from(size_of::<libc::sockaddr_ll>()).map_err(invalid)?;
        // SAFETY: both pointers are to live memory of the lengths given, which the call only reads.
        let sent = unsafe {
            libc::sendto(
                self.0.as_raw_fd(),
                frame.as_ptr().cast(),
                frame.len(),
                0,
                (&raw const address).cast(),
                length,
            )
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}
