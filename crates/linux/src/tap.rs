//! Capture of packets that this host sends from one UDP port, with their link headers.

use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use socket2::{Domain, SockAddr, SockAddrStorage, SockFilter, Socket, Type};

/// A socket that captures packets leaving the devices of this network namespace.
#[derive(Debug)]
pub struct Tap(Socket);

/// More than the headers of a packet.
const CAPTURED_BYTES: usize = 2048;
const ETHERTYPE_AT: u32 = 12;
/// The UDP source port behind an IPv4 header without options, and behind that of IPv6.
const IPV4_PORT_AT: u32 = 14 + 20;
const IPV6_PORT_AT: u32 = 14 + 40;
/// `SKF_AD_OFF + SKF_AD_PKTTYPE`, and `PACKET_OUTGOING`.
const PACKET_TYPE_AT: u32 = 0xffff_f000 + 4;
const OUTGOING: u32 = 4;

impl Tap {
    /// Captures datagrams from UDP port `port`, as they leave any device with Ethernet frames.
    ///
    /// # Errors
    /// An error of the kernel, for example that this user may not.
    pub fn of_udp_port(port: u16) -> io::Result<Self> {
        // Nothing is received before the filter is set: protocol 0.
        let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
        socket.attach_filter(&filter(port))?;
        socket.bind(&every_device())?;
        Ok(Self(socket))
    }

    /// The next packet, from its Ethernet header on, and the index of the interface it leaves by; `None`:
    /// none in time.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn receive(&self, patience: Duration) -> io::Result<Option<(Vec<u8>, u32)>> {
        self.0.set_read_timeout(Some(patience))?;
        let mut buffer = [MaybeUninit::uninit(); CAPTURED_BYTES];
        let (length, from) = match self.0.recv_from(&mut buffer) {
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        };
        let bytes = buffer.iter().take(length);
        // SAFETY: the call has filled `length` bytes from the start.
        let frame = bytes.map(|byte| unsafe { byte.assume_init() }).collect();
        Ok(Some((frame, interface(&from))))
    }
}

/// The interface index in the address of a packet socket.
fn interface(address: &SockAddr) -> u32 {
    // SAFETY: the storage of an address is larger than a `sockaddr_ll`, and zeros where the kernel has written nothing.
    let link = unsafe { &*address.as_ptr().cast::<libc::sockaddr_ll>() };
    u32::try_from(link.sll_ifindex).unwrap_or_default()
}

/// All protocols on all devices; sockets of a single protocol receive no outgoing packets.
fn every_device() -> SockAddr {
    let mut storage = SockAddrStorage::zeroed();
    // SAFETY: `sockaddr_ll` is one of the kinds of addresses, which the storage has room for.
    let link = unsafe { storage.view_as::<libc::sockaddr_ll>() };
    link.sll_family = u16::try_from(libc::AF_PACKET).unwrap_or_default();
    link.sll_protocol = u16::try_from(libc::ETH_P_ALL).unwrap_or_default().to_be();
    let length = libc::socklen_t::try_from(size_of::<libc::sockaddr_ll>()).unwrap_or_default();
    // SAFETY: the storage holds an address of this family and length.
    unsafe { SockAddr::new(storage, length) }
}

/// Outgoing packets of IPv4 without options or of IPv6 whose source port is `port`.
fn filter(port: u16) -> [SockFilter; 10] {
    const LOAD_BYTE: u32 = libc::BPF_LD | libc::BPF_B | libc::BPF_ABS;
    const LOAD_SHORT: u32 = libc::BPF_LD | libc::BPF_H | libc::BPF_ABS;
    const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const GO_ON_AT: u32 = libc::BPF_JMP | libc::BPF_JA;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    let instruction =
        |code: u32, yes, no, k| SockFilter::new(u16::try_from(code).unwrap_or_default(), yes, no, k);
    [
        instruction(LOAD_BYTE, 0, 0, PACKET_TYPE_AT),
        instruction(IF_EQUAL, 0, 7, OUTGOING),
        instruction(LOAD_SHORT, 0, 0, ETHERTYPE_AT),
        instruction(IF_EQUAL, 0, 2, 0x0800),
        instruction(LOAD_SHORT, 0, 0, IPV4_PORT_AT),
        instruction(GO_ON_AT, 0, 0, 1),
        instruction(LOAD_SHORT, 0, 0, IPV6_PORT_AT),
        instruction(IF_EQUAL, 0, 1, port.into()),
        instruction(RETURN, 0, 0, u32::MAX),
        instruction(RETURN, 0, 0, 0),
    ]
}
