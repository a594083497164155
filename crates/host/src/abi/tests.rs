#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::mem::offset_of;

use super::{Address, Collector, Config, FlowKey, Peer, Proof, Rule, Rules, SlicedFlow, Witness};
use crate::drops::btf::structure;
use crate::programs::OBJECT;

/// The size of a structure of `abi.rs`, and the offset of each of its fields.
macro_rules! layout {
    ($type:ty: $($field:ident),+ $(,)?) => {
        (size_of::<$type>(), vec![$((stringify!($field), offset_of!($type, $field))),+])
    };
}

#[test]
fn structures_lie_in_memory_as_the_description_in_the_object_says() {
    let btf = section(OBJECT, ".BTF").unwrap();
    for (name, (size, fields)) in [
        (
            "config",
            layout!(Config: node_id, ingress_interface, egress_interface, ingress_interface_level2,
                egress_interface_level2, clock_offset, egress_utilization, mtu, instructions, udp_port, carriage,
                mode, dscp, dscp_mask, before_tcp_options, restore_dscp, own_metadata, discard, hop_words,
                remaining_hops, complement, version, shim_in, shim_out, device, interval_us, room, slices),
        ),
        (
            "rule",
            layout!(Rule: protocol, any_protocol, ports, except, source_first, source_last, destination_first,
                destination_last),
        ),
        ("collector", layout!(Collector: address, port, padding)),
        (
            "rules",
            layout!(Rules: any_source, any_destination, count, collectors, rule, collector, control_port, padding),
        ),
        ("peer", layout!(Peer: flags, padding)),
        ("flow", layout!(FlowKey: source, destination, source_port, destination_port, protocol)),
        ("proof", layout!(Proof: until, renew_at, told, mtu, padding)),
        ("witness", layout!(Witness: flow, device, seen)),
        ("sliced_flow", layout!(SlicedFlow: started, entered, with_int, quiet_until, watched_at, is_due)),
    ] {
        let (described, members) = structure(btf, name).unwrap().expect(name);
        assert_eq!(described as usize, size, "size of {name}");
        // Padding at the end may have any names.
        let members: Vec<_> = members
            .iter()
            .map(|(member, at)| (member.as_str(), *at as usize))
            .filter(|(member, _)| !member.starts_with("padding"))
            .collect();
        let fields: Vec<_> = fields.into_iter().filter(|(field, _)| *field != "padding").collect();
        assert_eq!(members, fields, "members of {name}");
    }
    // A prefix is an address with its full length.
    let (size, members) = structure(btf, "prefix").unwrap().unwrap();
    assert_eq!(size as usize, size_of::<Address>());
    assert_eq!(
        members.iter().map(|(_, at)| *at as usize).collect::<Vec<_>>(),
        [offset_of!(Address, length), offset_of!(Address, bytes)]
    );
}

/// A section of a 64-bit ELF object.
fn section<'a>(object: &'a [u8], wanted: &str) -> Option<&'a [u8]> {
    let number = |at: usize, bytes: usize| {
        let bytes = object.get(at..at + bytes)?;
        Some(bytes.iter().rev().fold(0_usize, |number, byte| number << 8 | usize::from(*byte)))
    };
    let (headers, size) = (number(0x28, 8)?, number(0x3a, 2)?);
    let (count, names) = (number(0x3c, 2)?, number(0x3e, 2)?);
    let names = number(headers + names * size + 0x18, 8)?;
    (0..count).map(|index| headers + index * size).find_map(|header| {
        let name = object.get(names + number(header, 4)?..)?;
        if !name.starts_with(wanted.as_bytes()) || name.get(wanted.len()) != Some(&0) {
            return None;
        }
        let start = number(header + 0x18, 8)?;
        object.get(start..start + number(header + 0x20, 8)?)
    })
}
