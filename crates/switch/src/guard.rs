//! Keeps the kernel's own stack from forwarding what the switch forwards.
//!
//! A packet socket gets a copy of each frame; the kernel would forward the original, too. A program on each device lets
//! through what is for the machine itself, such as ARP and packets to its addresses, and drops the rest. The kernel
//! detaches it when the switch ends, however it ends.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};

use inband_linux::bpf::{KeySet, load_classifier};
use inband_linux::device::Device;
use inband_linux::tcx::{self, Direction, Order};

use crate::error::SwitchError;
use crate::hash::QuickSet;

/// The programs on the devices, and what they let through.
#[derive(Debug)]
pub(crate) struct Guard {
    own: KeySet<16>,
    allowed: QuickSet<IpAddr>,
    _links: Vec<OwnedFd>,
}

/// Most addresses of the machine.
const MAX_ADDRESSES: u32 = 65_536;

impl Guard {
    /// Attaches the program to every one of `devices`, behind other programs that are there.
    pub(crate) fn attach(devices: &[Device]) -> Result<Self, SwitchError> {
        let fault = || SwitchError::system("load the program that keeps the kernel from forwarding");
        let own = KeySet::new(MAX_ADDRESSES).map_err(fault())?;
        let program = load_classifier(&program(own.number().map_err(fault())?)).map_err(fault())?;
        let attach = |device: &Device| {
            let fault = SwitchError::system(format!("attach a program to {}", device.name));
            tcx::attach(program.as_fd(), device.index, Direction::Ingress, Order::Last).map_err(fault)
        };
        let links = devices.iter().map(attach).collect::<Result<_, _>>()?;
        Ok(Self { own, allowed: QuickSet::default(), _links: links })
    }

    /// The number of the set of the machine's own addresses, for other programs.
    pub(crate) fn own_addresses(&self) -> io::Result<u32> {
        self.own.number()
    }

    /// Lets packets to these addresses through, and to no others.
    pub(crate) fn allow(&mut self, own: &QuickSet<IpAddr>) -> io::Result<()> {
        for address in own.difference(&self.allowed) {
            self.own.insert(&key(*address))?;
        }
        for address in self.allowed.difference(own) {
            self.own.remove(&key(*address))?;
        }
        self.allowed.clone_from(own);
        Ok(())
    }
}

/// An IPv6 address, or an IPv4 address as one.
fn key(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// The program. It lets through what is neither IPv4 nor IPv6, packets to groups and to everyone, to link-local addresses
/// of IPv6, which the kernel does not forward, and to addresses in the set; it drops the rest.
fn program(set: u32) -> Vec<u64> {
    let ethertype = |number: u16| i32::from(number.to_be());
    let mapped = i32::from_ne_bytes([0, 0, 0xff, 0xff]);
    // Offsets of jumps count instructions behind the jump.
    vec![
        //  0: r6 = skb
        instruction(MOVE, 6, 1, 0, 0),
        //  1: r7 = skb->protocol
        instruction(LOAD_WORD, 7, 6, SKB_PROTOCOL, 0),
        //  2: IPv4 -> 5
        instruction(JUMP_EQUAL, 7, 0, 2, ethertype(0x0800)),
        //  3: IPv6 -> 14
        instruction(JUMP_EQUAL, 7, 0, 10, ethertype(0x86dd)),
        //  4: -> pass, 28
        instruction(JUMP, 0, 0, 23, 0),
        //  5: the key is a mapped address
        instruction(STORE_WORD, 10, 0, KEY, 0),
        //  6
        instruction(STORE_WORD, 10, 0, KEY + 4, 0),
        //  7
        instruction(STORE_WORD, 10, 0, KEY + 8, mapped),
        //  8: load 4 bytes of the destination to the end of the key
        instruction(MOVE_CONSTANT, 2, 0, 0, 14 + 16),
        //  9
        instruction(MOVE, 3, 10, 0, 0),
        // 10
        instruction(ADD_CONSTANT, 3, 0, 0, i32::from(KEY) + 12),
        // 11
        instruction(MOVE_CONSTANT, 4, 0, 0, 4),
        // 12: r8 = the IP version
        instruction(MOVE_CONSTANT, 8, 0, 0, 4),
        // 13: -> 19
        instruction(JUMP, 0, 0, 5, 0),
        // 14: load 16 bytes of the destination to the key
        instruction(MOVE_CONSTANT, 2, 0, 0, 14 + 24),
        // 15
        instruction(MOVE, 3, 10, 0, 0),
        // 16
        instruction(ADD_CONSTANT, 3, 0, 0, i32::from(KEY)),
        // 17
        instruction(MOVE_CONSTANT, 4, 0, 0, 16),
        // 18: r8 = the IP version
        instruction(MOVE_CONSTANT, 8, 0, 0, 6),
        // 19: bpf_skb_load_bytes(skb, r2, r3, r4)
        instruction(MOVE, 1, 6, 0, 0),
        // 20
        instruction(CALL, 0, 0, 0, SKB_LOAD_BYTES),
        // 21: cut: -> pass, 28
        instruction(JUMP_NOT_EQUAL, 0, 0, 6, 0),
        // 22
        instruction(MOVE, 2, 10, 0, 0),
        // 23
        instruction(ADD_CONSTANT, 2, 0, 0, i32::from(KEY)),
        // 24, 25: r1 = the set
        instruction(LOAD_MAP, 1, 1, 0, i32::from_ne_bytes(set.to_ne_bytes())),
        0,
        // 26: bpf_map_lookup_elem(set, key)
        instruction(CALL, 0, 0, 0, MAP_LOOKUP),
        // 27: not there: -> group?, 30
        instruction(JUMP_EQUAL, 0, 0, 2, 0),
        // 28: pass: TCX_NEXT
        instruction(MOVE_CONSTANT, 0, 0, 0, TCX_NEXT),
        // 29
        instruction(EXIT, 0, 0, 0, 0),
        // 30: IPv6 -> 34
        instruction(JUMP_EQUAL, 8, 0, 3, 6),
        // 31
        instruction(LOAD_BYTE, 1, 10, KEY + 12, 0),
        // 32: 224 and above -> pass, 28
        instruction(JUMP_ABOVE, 1, 0, -5, 223),
        // 33: -> drop, 40
        instruction(JUMP, 0, 0, 6, 0),
        // 34
        instruction(LOAD_BYTE, 1, 10, KEY, 0),
        // 35: a group -> pass, 28
        instruction(JUMP_EQUAL, 1, 0, -8, 0xff),
        // 36: not fe80::/10 -> drop, 40
        instruction(JUMP_NOT_EQUAL, 1, 0, 3, 0xfe),
        // 37
        instruction(LOAD_BYTE, 1, 10, KEY + 1, 0),
        // 38: above febf -> drop, 40
        instruction(JUMP_ABOVE, 1, 0, 1, 0xbf),
        // 39: fe80 and above -> pass, 28
        instruction(JUMP_ABOVE, 1, 0, -12, 0x7f),
        // 40: drop: TCX_DROP
        instruction(MOVE_CONSTANT, 0, 0, 0, TCX_DROP),
        // 41
        instruction(EXIT, 0, 0, 0, 0),
    ]
}

/// `struct bpf_insn`.
fn instruction(code: u8, destination: u8, source: u8, offset: i16, immediate: i32) -> u64 {
    let registers =
        if cfg!(target_endian = "little") { source << 4 | destination } else { destination << 4 | source };
    let ([a, b], [c, d, e, f]) = (offset.to_ne_bytes(), immediate.to_ne_bytes());
    u64::from_ne_bytes([code, registers, a, b, c, d, e, f])
}

/// Where on the stack the key is.
const KEY: i16 = -16;
/// `struct __sk_buff`.
const SKB_PROTOCOL: i16 = 16;
const SKB_LOAD_BYTES: i32 = 26;
const MAP_LOOKUP: i32 = 1;
const TCX_NEXT: i32 = -1;
const TCX_DROP: i32 = 2;
const MOVE: u8 = 0xbf;
const MOVE_CONSTANT: u8 = 0xb7;
const ADD_CONSTANT: u8 = 0x07;
const LOAD_WORD: u8 = 0x61;
const LOAD_BYTE: u8 = 0x71;
const STORE_WORD: u8 = 0x62;
const LOAD_MAP: u8 = 0x18;
const JUMP: u8 = 0x05;
const JUMP_EQUAL: u8 = 0x15;
const JUMP_NOT_EQUAL: u8 = 0x55;
const JUMP_ABOVE: u8 = 0x25;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
