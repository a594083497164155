//! The program that passes packets to be forwarded to the engine, and all others to the kernel.

use std::io;
use std::os::fd::OwnedFd;

use aya_obj::btf::{Btf, BtfKind};
use inband_linux::bpf::load_xdp;
use inband_linux::xdp;

use crate::assembly::{Assembly, Label, Register};
use crate::guard::OwnAddresses;

/// The parts common to the programs of all interfaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    /// The set of the host's own addresses.
    own: u32,
    /// The kernel function that returns the VLAN tag of a frame; `None`: missing.
    vlan_tag: Option<u32>,
}

/// Follows the time of arrival, by the monotonic clock, in the mark that the program writes before a frame.
pub(super) const MAGIC: u64 = 0x696e_6273_7764_7831;
pub(super) const MARK_BYTES: usize = 16;

impl Program {
    /// Finds what the program needs in the kernel.
    ///
    /// # Errors
    /// An error of the kernel.
    pub(super) fn prepare(own: &OwnAddresses) -> io::Result<Self> {
        // A kernel without BTF has no such function either.
        let types = Btf::from_sys_fs().ok();
        let find =
            |types: Btf| types.id_by_type_name_kind("bpf_xdp_metadata_rx_vlan_tag", BtfKind::Func).ok();
        Ok(Self { own: own.number()?, vlan_tag: types.and_then(find) })
    }

    /// Loads the program for a device, whose sockets are in the map `sockets`.
    ///
    /// # Errors
    /// An error of the kernel.
    pub(super) fn load(self, device: u32, sockets: u32) -> io::Result<OwnedFd> {
        match self.vlan_tag.filter(|_| xdp::tells_vlan_tags(device).unwrap_or(false)) {
            Some(vlan_tag) => load_xdp(&instructions(self.own, sockets, Some(vlan_tag)), Some(device)),
            None => load_xdp(&instructions(self.own, sockets, None), None),
        }
    }
}

/// The program. It passes to the kernel what is neither IPv4 nor IPv6, has a VLAN tag, or is for a group or
/// broadcast address, a link-local IPv6 address or one of the host's own; the sockets get the rest. For a
/// queue without a socket it passes everything.
fn instructions(own: u32, sockets: u32, vlan_tag: Option<u32>) -> Vec<u64> {
    use Label::{Give, Lookup, Pass, V6};
    use Register::{R0, R1, R2, R3, R4, R6, R7, R8, R10};
    let ethertype = |number: u16| i32::from(number.to_be());
    let mut code = Assembly::default();
    code.copy(R6, R1);
    if let Some(vlan_tag) = vlan_tag {
        // Protocol and tag are written where they are not read; 0: there is a tag.
        code.store_word(R10, KEY, 0).store_word(R10, KEY + 4, 0);
        code.copy(R1, R6).copy(R2, R10).add(R2, i32::from(KEY)).copy(R3, R10).add(R3, i32::from(KEY) + 4);
        code.call_kernel(vlan_tag).jump_if_equal(R0, 0, Pass);
    }
    code.load_word(R2, R6, MD_DATA).load_word(R3, R6, MD_DATA_END);
    code.copy(R1, R2).add(R1, 14 + 20).jump_if_above(R1, R3, Pass);
    code.load_byte(R4, R2, 0).and(R4, 1).jump_unless_equal(R4, 0, Pass);
    code.load_half(R4, R2, 12);
    code.jump_if_equal(R4, ethertype(0x86dd), V6);
    code.jump_unless_equal(R4, ethertype(0x0800), Pass);
    // The key is an IPv6 address, or an IPv4 address as one.
    code.store_word(R10, KEY, 0).store_word(R10, KEY + 4, 0);
    code.store_word(R10, KEY + 8, i32::from_ne_bytes([0, 0, 0xff, 0xff]));
    code.load_word(R4, R2, 14 + 16).store(R10, KEY + 12, R4);
    code.load_byte(R4, R10, KEY + 12).jump_if_more(R4, 223, Pass);
    code.jump(Lookup);
    code.label(V6);
    code.copy(R1, R2).add(R1, 14 + 40).jump_if_above(R1, R3, Pass);
    for word in 0..4 {
        code.load_word(R4, R2, 14 + 24 + word * 4).store(R10, KEY + word * 4, R4);
    }
    // ff00::/8 and fe80::/10.
    code.load_byte(R4, R10, KEY).jump_if_equal(R4, 0xff, Pass).jump_unless_equal(R4, 0xfe, Lookup);
    code.load_byte(R4, R10, KEY + 1).and(R4, 0xc0).jump_if_equal(R4, 0x80, Pass);
    code.label(Lookup);
    code.load_map(R1, own).copy(R2, R10).add(R2, i32::from(KEY));
    code.call(MAP_LOOKUP).jump_unless_equal(R0, 0, Pass);
    code.call(KTIME_GET_NS).copy(R7, R0);
    let mark_bytes = i32::try_from(MARK_BYTES).unwrap_or_default();
    code.copy(R1, R6).set(R2, -mark_bytes).call(XDP_ADJUST_META).jump_unless_equal(R0, 0, Give);
    code.load_word(R1, R6, MD_DATA_META).load_word(R2, R6, MD_DATA);
    code.copy(R3, R1).add(R3, mark_bytes).jump_if_above(R3, R2, Pass);
    code.store_long(R1, 0, R7).load_long(R8, MAGIC).store_long(R1, 8, R8);
    code.label(Give);
    code.load_map(R1, sockets).load_word(R2, R6, MD_QUEUE).set(R3, XDP_PASS);
    code.call(REDIRECT_MAP).exit();
    code.label(Pass);
    code.set(R0, XDP_PASS).exit();
    code.finish()
}

/// The stack offset of the key.
const KEY: i16 = -16;
/// `struct xdp_md`.
const MD_DATA: i16 = 0;
const MD_DATA_END: i16 = 4;
const MD_DATA_META: i16 = 8;
const MD_QUEUE: i16 = 16;
const XDP_PASS: i32 = 2;
/// `enum bpf_func_id`.
const MAP_LOOKUP: i32 = 1;
const KTIME_GET_NS: i32 = 5;
const REDIRECT_MAP: i32 = 51;
const XDP_ADJUST_META: i32 = 54;
