//! INT headers: shim, header, and every hop of the stack.

use std::fmt::{self, Write};

use inband_wire::ChecksumState;
use inband_wire::int::domain::set_bits;
use inband_wire::int::earlier::shim::HOST_INT;
use inband_wire::int::{Encapsulation, HeaderType, Instructions, Original, Version};

use super::block::{Block, flow, plural, protocol_name, yes_no};
use super::{earlier_int, metadata};
use crate::hex::hex;
use crate::names;
use crate::packet::{Body, IntHeader, IntPacket, MdBody, MxBody};

/// Prints a packet with INT.
pub(super) fn write<W: Write>(packet: &IntPacket, block: &mut Block<'_, W>) -> fmt::Result {
    block.line(1, format_args!("Flow: {}", flow(&packet.flow)))?;
    block.line(1, format_args!("INT: {}", encapsulation(packet.encapsulation)))?;
    block.line(1, format_args!("L4 checksum: {}", checksum(packet.checksum)))?;
    for deviation in packet.deviations() {
        block.line(1, format_args!("Accepted leniently: {deviation}"))?;
    }
    write_headers(&packet.headers, 1, block)
}

/// Prints INT headers.
pub(super) fn write_headers<W: Write>(
    headers: &[IntHeader],
    depth: usize,
    block: &mut Block<'_, W>,
) -> fmt::Result {
    for header in headers {
        write_shim(header, depth, block)?;
        let at = header.location.header;
        match &header.body {
            Body::Md(md) => write_md(md, at, depth, block)?,
            Body::Mx(mx) => {
                write_mx(mx, at, depth, block)?;
                if let Some(values) = &mx.hop {
                    block.line(depth + 1, "Metadata of a hop behind the header")?;
                    metadata::write(values, depth + 2, block)?;
                }
            }
            Body::HopByHop(header) => earlier_int::write(header, at, depth, block)?,
            Body::Destination(data) => {
                block.line(depth, format_args!("Destination header at byte {at}: {}", hex(data)))?;
            }
        }
    }
    Ok(())
}

fn encapsulation(encapsulation: Encapsulation) -> &'static str {
    match encapsulation {
        Encapsulation::Dscp => "behind the TCP or UDP header, marked by the DSCP",
        Encapsulation::UdpPort => "behind the UDP header, marked by its destination port",
        Encapsulation::Udp => "behind a new UDP header in front of the original L4 header",
        Encapsulation::ProbeMarker => "behind the TCP or UDP header, marked by a probe marker",
        Encapsulation::Gre => "behind a GRE header",
        Encapsulation::VxlanGpe => "behind a VXLAN-GPE header",
        Encapsulation::Geneve => "in a Geneve option",
    }
}

fn checksum(state: ChecksumState) -> &'static str {
    match state {
        ChecksumState::Ok => "ok",
        ChecksumState::Bad => "bad, it does not match the packet's bytes",
        ChecksumState::Absent => "absent, this packet has none",
        ChecksumState::Unverifiable => "unverifiable, it covers bytes that are not in the capture",
    }
}

fn write_shim<W: Write>(header: &IntHeader, depth: usize, block: &mut Block<'_, W>) -> fmt::Result {
    let at = header.location.shim;
    let header_type = header.location.header_type;
    let type_name = match header_type {
        HeaderType::Md if header.location.version.is_before_2() => "hop-by-hop",
        HeaderType::Md => "INT-MD, metadata is stacked in the packet",
        HeaderType::Destination => "destination, for the sink only",
        HeaderType::Mx => "INT-MX, every node reports its metadata itself",
    };
    let is_option = header.location.encapsulation == Encapsulation::Geneve;
    let name = if is_option { "Geneve option" } else { "INT shim" };
    block.line(depth, format_args!("{name} at byte {at}"))?;
    let code = if header.location.version == Version::HostInt0_5 { HOST_INT } else { header_type.code() };
    block.line(depth + 1, format_args!("Type: {code} ({type_name})"))?;
    // The Length of shims before 2.0 includes the shim.
    let counts_itself = header.location.version.is_before_2() && !is_option;
    let (from, what) =
        if counts_itself { (header.location.shim, "with it") } else { (header.location.header, "behind it") };
    let words = (header.location.end - from) / 4;
    let bytes = words * 4;
    block.line(depth + 1, format_args!("Length: {} {what}, {bytes} bytes", plural(words, "word")))?;
    write_original(&header.original, depth + 1, block)?;
    match (&header.shim, header.location.encapsulation) {
        (Some(shim), Encapsulation::Gre) if shim.gre_added() => {
            block.line(depth + 1, "G: the INT source added the GRE header")
        }
        (Some(shim), Encapsulation::VxlanGpe) if shim.was_vxlan() => {
            block.line(depth + 1, "G: the original packet was VXLAN without GPE")
        }
        _ => Ok(()),
    }
}

fn write_original<W: Write>(original: &Original, depth: usize, block: &mut Block<'_, W>) -> fmt::Result {
    if let Some(dscp) = original.dscp {
        block.line(depth, format_args!("Original DSCP: {dscp:#04x}"))?;
    }
    if let Some(port) = original.destination_port {
        block.line(depth, format_args!("Original destination port: {port}"))?;
    }
    if let Some(protocol) = original.ip_protocol {
        let name = protocol_name(protocol);
        block.line(depth, format_args!("Original IP protocol: {protocol} ({name})"))?;
    }
    if let Some(ethertype) = original.ethertype {
        block.line(depth, format_args!("Next EtherType: {ethertype:#06x}"))?;
    }
    match original.next_protocol {
        Some(next) => block.line(depth, format_args!("Next protocol: {next:#04x}")),
        None => Ok(()),
    }
}

fn write_md<W: Write>(md: &MdBody, at: usize, depth: usize, block: &mut Block<'_, W>) -> fmt::Result {
    let header = md.header;
    block.line(depth, format_args!("INT-MD header at byte {at}, version {}", header.version()))?;
    let inside = depth + 1;
    block.line(inside, format_args!("Discard at the sink (D): {}", yes_no(header.discard())))?;
    let exceeded = yes_no(header.max_hop_count_exceeded());
    block.line(inside, format_args!("Max hop count exceeded (E): {exceeded}"))?;
    block.line(inside, format_args!("MTU exceeded (M): {}", yes_no(header.mtu_exceeded())))?;
    let hop_ml = header.hop_ml();
    let words = plural(hop_ml.count().into(), "word");
    block.line(inside, format_args!("Hop ML: {words}, every hop adds {} bytes", hop_ml.bytes()))?;
    let remaining = plural(header.remaining_hop_count().into(), "more hop");
    block.line(inside, format_args!("Remaining hop count: {remaining} may add metadata"))?;
    write_instructions(header.instructions(), inside, block)?;
    let domain = (header.domain_specific_id(), header.ds_instruction(), header.ds_flags());
    write_domain(domain, inside, block)?;
    write_stack(md, depth, block)
}

fn write_stack<W: Write>(md: &MdBody, depth: usize, block: &mut Block<'_, W>) -> fmt::Result {
    let stack = &md.stack;
    let count = stack.hop_count;
    let order = if count > 1 { ", the last hop of the path first" } else { "" };
    block.line(depth, format_args!("Metadata stack: {}{order}", plural(count, "hop")))?;
    for (index, hop) in stack.hops.iter().enumerate() {
        block.line(depth + 1, format_args!("Hop {}", count - index))?;
        metadata::write(&hop.values, depth + 2, block)?;
        if !hop.domain.is_empty() {
            block.line(depth + 2, format_args!("Domain-specific metadata: {}", hex(&hop.domain)))?;
        }
    }
    let missing = stack.missing();
    if missing > 0 {
        block.line(depth + 1, format_args!("{} more, cut off here", plural(missing, "hop")))?;
    }
    if !md.source_only.is_empty() {
        block.line(depth + 1, format_args!("Source-only metadata: {}", hex(&md.source_only)))?;
    }
    Ok(())
}

fn write_mx<W: Write>(mx: &MxBody, at: usize, depth: usize, block: &mut Block<'_, W>) -> fmt::Result {
    let header = &mx.header;
    block.line(depth, format_args!("INT-MX header at byte {at}, version {}", header.version()))?;
    let inside = depth + 1;
    block.line(inside, format_args!("Discard at the sink (D): {}", yes_no(header.discard())))?;
    write_instructions(header.instructions(), inside, block)?;
    let domain = (header.domain_specific_id(), header.ds_instruction(), header.ds_flags());
    write_domain(domain, inside, block)?;
    if !mx.source_inserted.is_empty() {
        block.line(inside, format_args!("Source-inserted metadata: {}", hex(&mx.source_inserted)))?;
    }
    Ok(())
}

fn write_instructions<W: Write>(
    instructions: Instructions,
    depth: usize,
    block: &mut Block<'_, W>,
) -> fmt::Result {
    block.line(depth, format_args!("Instruction bitmap: {:#06x}", instructions.0))?;
    for bit in set_bits(instructions.0) {
        block.line(depth + 1, format_args!("bit {bit}: {}", names::instruction(bit)))?;
    }
    Ok(())
}

fn write_domain<W: Write>(
    (id, instruction, flags): (u16, u16, u16),
    depth: usize,
    block: &mut Block<'_, W>,
) -> fmt::Result {
    if id == 0 {
        return block.line(depth, "Domain Specific ID: 0x0000 (default, no domain-specific instructions)");
    }
    block.line(depth, format_args!("Domain Specific ID: {id:#06x}"))?;
    block.line(depth, format_args!("DS Instruction: {instruction:#06x}"))?;
    block.line(depth, format_args!("DS Flags: {flags:#06x}"))
}
