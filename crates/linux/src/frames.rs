//! Frames of a device, in batches, as the device's peer sent them.
//!
//! A packet socket receives frames before the kernel's own stack does. Work that the kernel leaves to devices
//! is described beside the frame: VLAN tags, checksums to complete, segments to cut.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

/// A socket that receives every frame arriving at a device, and sends frames by it. It never blocks.
#[derive(Debug)]
pub struct FrameSocket {
    socket: OwnedFd,
}

/// Memory for the frames of one call.
pub struct Batch {
    slots: Vec<Slot>,
    headers: Vec<libc::mmsghdr>,
    vectors: Vec<libc::iovec>,
}

/// Memory for one frame and its metadata.
struct Slot {
    bytes: Vec<u8>,
    control: [u64; CONTROL_WORDS],
}

/// A received frame.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// Its bytes, without a VLAN tag that the kernel has removed.
    pub bytes: &'a [u8],
    /// Protocol and contents of that tag.
    pub vlan: Option<(u16, u16)>,
    /// Time of arrival, nanoseconds since 1970 of the kernel's clock; 0: unknown.
    pub came_at: u64,
    /// The work that the kernel has left undone.
    pub unfinished: Unfinished,
    /// Whether it is truncated.
    pub is_cut: bool,
}

/// The work that would turn a frame into one on a wire: `struct virtio_net_hdr`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// The start of the checksummed part, and the offset of the checksum in it; `None`: nothing to do.
    pub checksum: Option<(usize, usize)>,
    /// The kind of a super-packet, and the bytes of payload of each segment; `None`: not a super-packet.
    pub segments: Option<(Segments, usize)>,
}

/// The kind of a super-packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segments {
    /// TCP.
    Tcp,
    /// UDP datagrams of equal length.
    Udp,
    /// Anything else.
    Other(u8),
}

/// Frames of one call.
const MAX_FRAMES: usize = 64;
/// The largest packet in the kernel, with Ethernet's header, and with the header that precedes it.
const SLOT_BYTES: usize = VNET_BYTES + 65_536 + 64;
/// `struct virtio_net_hdr`.
const VNET_BYTES: usize = 10;
/// Space for the tag and the time, 8 bytes each.
const CONTROL_WORDS: usize = 16;
/// Buffer sizes for frames not read yet, and for those the device has not sent, bytes.
const RECEIVE_BYTES: libc::c_int = 64 << 20;
const SEND_BYTES: libc::c_int = 16 << 20;

impl FrameSocket {
    /// Opens a socket on the device with this interface index; while it is open the device also accepts
    /// frames to other Ethernet addresses than its own.
    ///
    /// # Errors
    /// An error of the kernel, for example that this user may not.
    pub fn open(interface: u32) -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: the call takes three integers and returns a descriptor, or a negative number. Protocol 0 receives
        // nothing until the socket is bound.
        let fd = check(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
        // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
        let socket = Self { socket: unsafe { OwnedFd::from_raw_fd(fd) } };
        let index = i32::try_from(interface).map_err(|_| io::ErrorKind::InvalidInput)?;
        socket.set(libc::SOL_PACKET, PACKET_VNET_HDR, &1_i32)?;
        socket.set(libc::SOL_PACKET, libc::PACKET_AUXDATA, &1_i32)?;
        socket.set(libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1_i32)?;
        socket.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1_i32)?;
        // Without the privilege the default size is used.
        let _ = socket.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &RECEIVE_BYTES);
        let _ = socket.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BYTES);
        let membership = libc::packet_mreq {
            mr_ifindex: index,
            mr_type: u16::try_from(libc::PACKET_MR_PROMISC).unwrap_or_default(),
            mr_alen: 0,
            mr_address: [0; 8],
        };
        socket.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)?;
        socket.bind(index)?;
        Ok(socket)
    }

    fn bind(&self, index: i32) -> io::Result<()> {
        // SAFETY: all fields of `struct sockaddr_ll` are integers, for which zeros are values.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = u16::try_from(libc::AF_PACKET).unwrap_or_default();
        address.sll_protocol = EVERY_PROTOCOL.to_be();
        address.sll_ifindex = index;
        let length = u32::try_from(size_of::<libc::sockaddr_ll>()).unwrap_or_default();
        // SAFETY: the pointer is to a live address of the length given, which the call only reads.
        check(unsafe { libc::bind(self.socket.as_raw_fd(), (&raw const address).cast(), length) })?;
        Ok(())
    }

    fn set<T>(&self, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
        let length = u32::try_from(size_of::<T>()).unwrap_or_default();
        let fd = self.socket.as_raw_fd();
        // SAFETY: the pointer is to a live value of the length given, which the call only reads.
        check(unsafe { libc::setsockopt(fd, level, option, ptr::from_ref(value).cast(), length) })?;
        Ok(())
    }

    /// Receives pending frames, at most 64; they are in `batch` until it is used again.
    ///
    /// # Errors
    /// An error of the kernel, for example that the device is down. That no frame is pending is no error.
    pub fn receive<'a>(
        &self,
        batch: &'a mut Batch,
    ) -> io::Result<impl Iterator<Item = Received<'a>> + use<'a>> {
        batch.prepare();
        let fd = self.socket.as_raw_fd();
        let headers = batch.headers.as_mut_ptr();
        let count = u32::try_from(batch.headers.len()).unwrap_or_default();
        // SAFETY: `prepare` has pointed every header at buffers of the batch, which live and are not used through the
        // call, and at one vector each. The kernel writes within the lengths it is given.
        let received = unsafe { libc::recvmmsg(fd, headers, count, libc::MSG_DONTWAIT, ptr::null_mut()) };
        let received = match check(received) {
            Ok(received) => usize::try_from(received).unwrap_or_default(),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => 0,
            Err(error) => return Err(error),
        };
        let filled = batch.slots.iter().zip(&batch.headers).take(received);
        Ok(filled.filter_map(|(slot, header)| slot.read(header)))
    }

    /// Sends frames unchanged; returns how many the device accepted. Fewer: it has no room for more.
    ///
    /// # Errors
    /// The kernel's error about the first of them; nothing was sent.
    pub fn send<'a>(&self, frames: impl Iterator<Item = &'a [u8]>) -> io::Result<usize> {
        // Checksums are complete, and nothing has to be cut: all zeros.
        let nothing_to_do = [0_u8; VNET_BYTES];
        let mut vectors: Vec<libc::iovec> = Vec::with_capacity(2 * MAX_FRAMES);
        for frame in frames.take(MAX_FRAMES) {
            for part in [nothing_to_do.as_slice(), frame] {
                vectors.push(libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
            }
        }
        let mut headers: Vec<libc::mmsghdr> = Vec::with_capacity(MAX_FRAMES);
        for pair in vectors.chunks_exact_mut(2) {
            // SAFETY: all fields of `struct mmsghdr` are integers and pointers, for which zeros are values.
            let mut header: libc::mmsghdr = unsafe { zeroed() };
            header.msg_hdr.msg_iov = pair.as_mut_ptr();
            header.msg_hdr.msg_iovlen = 2;
            headers.push(header);
        }
        let count = u32::try_from(headers.len()).unwrap_or_default();
        if count == 0 {
            return Ok(0);
        }
        // SAFETY: every header points at two vectors that live through the call, as what they point at does; the call
        // only reads it.
        let sent = unsafe {
            libc::sendmmsg(self.socket.as_raw_fd(), headers.as_mut_ptr(), count, libc::MSG_DONTWAIT)
        };
        match check(sent) {
            Ok(sent) => Ok(usize::try_from(sent).unwrap_or_default()),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    /// The number of frames lost since the last call for want of room in the socket.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn take_losses(&self) -> io::Result<u32> {
        let mut statistics = [0_u32; 2];
        let mut length = u32::try_from(size_of::<[u32; 2]>()).unwrap_or_default();
        let fd = self.socket.as_raw_fd();
        let value = statistics.as_mut_ptr().cast();
        // SAFETY: both pointers are to live values, and the length is that of `struct tpacket_stats`.
        check(unsafe { libc::getsockopt(fd, libc::SOL_PACKET, PACKET_STATISTICS, value, &raw mut length) })?;
        let [_, lost] = statistics;
        Ok(lost)
    }
}

impl AsFd for FrameSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Default for Batch {
    fn default() -> Self {
        Self::new()
    }
}

impl Batch {
    /// A batch of 64 frames.
    #[must_use]
    pub fn new() -> Self {
        let slot = || Slot { bytes: vec![0; SLOT_BYTES], control: [0; CONTROL_WORDS] };
        Self {
            slots: (0..MAX_FRAMES).map(|_| slot()).collect(),
            headers: Vec::with_capacity(MAX_FRAMES),
            vectors: Vec::with_capacity(MAX_FRAMES),
        }
    }

    /// Points a header at every slot.
    fn prepare(&mut self) {
        self.vectors.clear();
        self.headers.clear();
        let vector =
            |slot: &mut Slot| libc::iovec { iov_base: slot.bytes.as_mut_ptr().cast(), iov_len: SLOT_BYTES };
        self.vectors.extend(self.slots.iter_mut().map(vector));
        for (slot, vector) in self.slots.iter_mut().zip(&mut self.vectors) {
            // SAFETY: all fields of `struct mmsghdr` are integers and pointers, for which zeros are values.
            let mut header: libc::mmsghdr = unsafe { zeroed() };
            header.msg_hdr.msg_iov = vector;
            header.msg_hdr.msg_iovlen = 1;
            header.msg_hdr.msg_control = slot.control.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = size_of::<[u64; CONTROL_WORDS]>();
            self.headers.push(header);
        }
    }
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batch").field("frames", &self.slots.len()).finish_non_exhaustive()
    }
}

impl Slot {
    /// The received frame; `None`: it is shorter than the minimum.
    fn read(&self, header: &libc::mmsghdr) -> Option<Received<'_>> {
        let length = usize::try_from(header.msg_len).ok()?;
        let (offload, bytes) = self.bytes.get(..length)?.split_at_checked(VNET_BYTES)?;
        let mut received = Received {
            bytes,
            vlan: None,
            came_at: 0,
            unfinished: Unfinished::read(offload)?,
            is_cut: header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
        };
        self.read_control(header.msg_hdr.msg_controllen, &mut received);
        Some(received)
    }

    /// Reads one `struct cmsghdr` after another.
    fn read_control(&self, length: usize, received: &mut Received<'_>) {
        let words = self.control.get(..length.div_ceil(8)).unwrap_or_default();
        let mut at = 0;
        while let (Some(length), Some(kind)) = (words.get(at), words.get(at + 1)) {
            let length = usize::try_from(*length).unwrap_or_default();
            if length < CONTROL_HEADER_BYTES {
                return;
            }
            let data = |word: usize| words.get(at + 2 + word).copied().unwrap_or_default();
            let [level, kind] = halves(*kind);
            if level == SOL_SOCKET && kind == SCM_TIMESTAMPNS {
                received.came_at = data(0).wrapping_mul(1_000_000_000).wrapping_add(data(1));
            } else if level == SOL_PACKET && kind == PACKET_AUXDATA {
                // `struct tpacket_auxdata`: status, length, snapped length, offsets of 16 bits, tag, protocol.
                let [status, _] = halves(data(0));
                let [tag, _] = halves(data(2));
                let (contents, protocol) = (tag & 0xffff, tag >> 16);
                if status & VLAN_VALID != 0 {
                    let protocol = if status & VLAN_PROTOCOL_VALID != 0 { protocol } else { ETHERTYPE_VLAN };
                    let narrow = |number| u16::try_from(number).ok();
                    received.vlan = narrow(protocol).zip(narrow(contents));
                }
            }
            at += length.div_ceil(8);
        }
    }
}

/// The first and the second 32 bits of a word in memory.
fn halves(word: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
    [u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h])]
}

impl Unfinished {
    /// Reads `struct virtio_net_hdr`, in the byte order of the machine.
    fn read(bytes: &[u8]) -> Option<Self> {
        let half = |at: usize| Some(usize::from(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?)));
        let flags = *bytes.first()?;
        let segments = match *bytes.get(1)? & !GSO_ECN {
            0 => None,
            1 | 4 => Some(Segments::Tcp),
            5 => Some(Segments::Udp),
            other => Some(Segments::Other(other)),
        };
        let (size, start, offset) = (half(4)?, half(6)?, half(8)?);
        Some(Self {
            checksum: (flags & NEEDS_CHECKSUM != 0).then_some((start, offset)),
            segments: segments.map(|segments| (segments, size)),
        })
    }

    /// Whether no work is left.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// `struct cmsghdr`.
const CONTROL_HEADER_BYTES: usize = 16;
const SOL_SOCKET: u32 = 1;
/// `SO_TIMESTAMPNS_OLD`, which names its control message, too.
const SCM_TIMESTAMPNS: u32 = 35;
const SOL_PACKET: u32 = 263;
const PACKET_AUXDATA: u32 = 8;
const PACKET_STATISTICS: libc::c_int = 6;
const PACKET_VNET_HDR: libc::c_int = 15;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
/// `TP_STATUS_VLAN_VALID` and `TP_STATUS_VLAN_TPID_VALID`.
const VLAN_VALID: u32 = 1 << 4;
const VLAN_PROTOCOL_VALID: u32 = 1 << 6;
const ETHERTYPE_VLAN: u32 = 0x8100;
/// `VIRTIO_NET_HDR_F_NEEDS_CSUM` and `VIRTIO_NET_HDR_GSO_ECN`.
const NEEDS_CHECKSUM: u8 = 1;
const GSO_ECN: u8 = 0x80;
/// `ETH_P_ALL`.
const EVERY_PROTOCOL: u16 = 3;
