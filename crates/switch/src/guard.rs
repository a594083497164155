//! The guard, which keeps the kernel's own stack from forwarding what the switch forwards.
//!
//! A packet socket receives a copy of each frame; the kernel would forward the original, too. A program on
//! each device passes what is for the host itself, such as ARP and packets to its addresses, and drops the
//! rest. The kernel detaches it when the switch ends, even if it crashes.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};

use inband_linux::bpf::{Attached, KeySet, load_classifier};
use inband_linux::device::Device;
use inband_linux::tcx::{self, Direction, Order};

use crate::assembly::{Assembly, Label, Register};
use crate::error::SwitchError;
use crate::hash::QuickSet;

/// The programs on the devices.
#[derive(Debug)]
pub(crate) struct Guard {
    program: OwnedFd,
    /// In the order of the devices.
    links: Vec<Attached>,
}

/// The host's own addresses, to which the programs pass packets.
#[derive(Debug)]
pub(crate) struct OwnAddresses {
    set: KeySet<16>,
    allowed: QuickSet<IpAddr>,
}

const LOAD: &str = "load the program that keeps the kernel from forwarding";
/// Maximum number of the host's addresses.
const MAX_ADDRESSES: u32 = 65_536;

impl Guard {
    /// Attaches the program to every one of `devices`, behind existing programs. A router leaves the packets
    /// of VLANs to the kernel.
    pub(crate) fn attach(
        devices: &[Device],
        own: &OwnAddresses,
        is_router: bool,
    ) -> Result<Self, SwitchError> {
        let number = own.number().map_err(SwitchError::system(LOAD))?;
        let program = load_classifier(&program(number, is_router)).map_err(SwitchError::system(LOAD))?;
        let links = devices.iter().map(|device| attach(&program, device)).collect::<Result<_, _>>()?;
        Ok(Self { program, links })
    }

    /// Attaches the program to a device in place of the one at this position, which is gone.
    pub(crate) fn attach_again(&mut self, at: usize, device: &Device) -> Result<(), SwitchError> {
        if let Some(link) = self.links.get_mut(at) {
            *link = attach(&self.program, device)?;
        }
        Ok(())
    }
}

fn attach(program: &OwnedFd, device: &Device) -> Result<Attached, SwitchError> {
    let fault = SwitchError::system(format!("attach a program to {}", device.name));
    tcx::attach(program.as_fd(), device.index, Direction::Ingress, Order::Last)
        .map(Attached::from)
        .map_err(fault)
}

impl OwnAddresses {
    /// No addresses.
    pub(crate) fn none() -> Result<Self, SwitchError> {
        let set = KeySet::new(MAX_ADDRESSES).map_err(SwitchError::system(LOAD))?;
        Ok(Self { set, allowed: QuickSet::default() })
    }

    /// The number of the set, for programs.
    pub(crate) fn number(&self) -> io::Result<u32> {
        self.set.number()
    }

    /// Passes packets to these addresses, and to no others.
    pub(crate) fn allow(&mut self, own: &QuickSet<IpAddr>) -> io::Result<()> {
        for address in own.difference(&self.allowed) {
            self.set.insert(&key(*address))?;
        }
        for address in self.allowed.difference(own) {
            self.set.remove(&key(*address))?;
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

/// The program. It passes what is neither IPv4 nor IPv6, packets to groups and broadcast addresses, to
/// link-local IPv6 addresses, which the kernel does not forward, and to addresses in the set, and, if
/// `passes_vlans`, the packets of VLANs; it drops the rest.
fn program(set: u32, passes_vlans: bool) -> Vec<u64> {
    use Label::{Drop, Load, Pass, Unknown, UnknownV6, Untagged, V6};
    use Register::{R0, R1, R2, R3, R4, R6, R7, R8, R10};
    let ethertype = |number: u16| i32::from(number.to_be());
    let mut code = Assembly::default();
    code.copy(R6, R1);
    if passes_vlans {
        // The kernel has taken the tag out of the frame. VLAN 0 is none.
        code.load_word(R7, R6, SKB_VLAN_PRESENT).jump_if_equal(R7, 0, Untagged);
        code.load_word(R7, R6, SKB_VLAN_TCI).and(R7, VLAN_ID).jump_unless_equal(R7, 0, Pass);
        code.label(Untagged);
    }
    code.load_word(R7, R6, SKB_PROTOCOL);
    code.jump_if_equal(R7, ethertype(0x0800), Label::V4).jump_if_equal(R7, ethertype(0x86dd), V6).jump(Pass);
    // The key is the destination, an IPv4 address as an IPv6 address; R8 is the IP version.
    code.label(Label::V4);
    code.store_word(R10, KEY, 0).store_word(R10, KEY + 4, 0);
    code.store_word(R10, KEY + 8, i32::from_ne_bytes([0, 0, 0xff, 0xff]));
    code.set(R2, 14 + 16).copy(R3, R10).add(R3, i32::from(KEY) + 12).set(R4, 4).set(R8, 4).jump(Load);
    code.label(V6);
    code.set(R2, 14 + 24).copy(R3, R10).add(R3, i32::from(KEY)).set(R4, 16).set(R8, 6);
    code.label(Load);
    code.copy(R1, R6).call(SKB_LOAD_BYTES).jump_unless_equal(R0, 0, Pass);
    code.copy(R2, R10).add(R2, i32::from(KEY)).load_map(R1, set);
    code.call(MAP_LOOKUP).jump_if_equal(R0, 0, Unknown);
    code.label(Pass);
    code.set(R0, TCX_NEXT).exit();
    // 224.0.0.0 and above.
    code.label(Unknown);
    code.jump_if_equal(R8, 6, UnknownV6);
    code.load_byte(R1, R10, KEY + 12).jump_if_more(R1, 223, Pass).jump(Drop);
    // ff00::/8 and fe80::/10.
    code.label(UnknownV6);
    code.load_byte(R1, R10, KEY).jump_if_equal(R1, 0xff, Pass).jump_unless_equal(R1, 0xfe, Drop);
    code.load_byte(R1, R10, KEY + 1).jump_if_more(R1, 0xbf, Drop).jump_if_more(R1, 0x7f, Pass);
    code.label(Drop);
    code.set(R0, TCX_DROP).exit();
    code.finish()
}

/// The stack offset of the key.
const KEY: i16 = -16;
/// `struct __sk_buff`.
const SKB_PROTOCOL: i16 = 16;
const SKB_VLAN_PRESENT: i16 = 20;
const SKB_VLAN_TCI: i16 = 24;
const VLAN_ID: i32 = 0x0fff;
const SKB_LOAD_BYTES: i32 = 26;
const MAP_LOOKUP: i32 = 1;
const TCX_NEXT: i32 = -1;
const TCX_DROP: i32 = 2;
