//! `inband node`: one INT node over a capture file.

mod arguments;
mod offline;
mod output;
mod reload;
mod summary;

use anyhow::{Error, anyhow};
use inband_capture::{Interface, LinkType, Record, set_ip_version, start};
use inband_node::frame::MAX_GROWTH;
use inband_node::{Frame, Node, NodeConfig, Output, OwnPacket, Verdict};
use inband_wire::Link;

use crate::failure::Failure;
use crate::input::{Input, is_dash};
use crate::node_config::read_node;
use crate::note::note;
use crate::signals;
pub(crate) use arguments::Args;
use offline::{Device, Handling};
use output::{Outputs, check_distinct};
use reload::Reloads;

/// Runs the node over the capture.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (config, mut node) = read_node(&args.config)?;
    note_default("--ingress", args.ingress, args, &config);
    note_default("--egress", args.egress, args, &config);
    let ids = config.offline.packets.iter();
    for (option, id) in ids.flat_map(|packets| [("ingress", packets.ingress), ("egress", packets.egress)]) {
        if let Some(id) = id {
            note_default(&format!("offline.packets.{option}"), id, args, &config);
        }
    }
    let reloads = Reloads::read(&args.reload)?;
    let written = args.written();
    check_distinct(&args.files_read(), &written)?;
    if args.json
        && let Some((option, _)) = written.iter().find(|(_, path)| is_dash(path))
    {
        return Err(Failure::usage(format!("--json and {option} - both want stdout")));
    }
    node.withhold(config.offline.unavailable.bitmap());

    let stop = signals::until_stopped()?;
    let mut input = Input::open_until(&args.read, &stop)?;
    let mut outputs = Outputs::create(args, &config, input.format())?;
    let device = Device::new(&config.offline, args.ingress, args.egress);
    let mut way = Way { egress: args.egress, device, reloads };
    let read = way.carry_all(&mut input, &mut node, &mut outputs);
    // What was read before an error is written before the error is reported.
    outputs.flush()?;
    summary::print(node.counters(), args.json)?;
    read?;
    for (after, path) in way.reloads.pending() {
        note!("note: --reload {after}:{} had no effect: no packet follows packet {after}", path.display());
    }
    Ok(())
}

/// Notes that interface `id`, which `option` names, is not listed and has the defaults.
fn note_default(option: &str, id: u16, args: &Args, config: &NodeConfig) {
    let ids = config.interfaces.iter().map(|interface| interface.id);
    if config.interfaces.is_empty() || ids.clone().any(|known| known == id) {
        return;
    }
    let path = args.config.display();
    let known: Vec<_> = ids.map(|id| id.to_string()).collect();
    let known = known.join(", ");
    note!("note: {option} {id}: {path} lists only the interfaces {known}; this one has the defaults");
}

/// The path of every packet through the node.
struct Way {
    egress: u16,
    device: Device,
    reloads: Reloads,
}

impl Way {
    fn carry_all(&mut self, input: &mut Input, node: &mut Node, outputs: &mut Outputs) -> Result<(), Error> {
        let mut record = Record::default();
        let mut buffer = Vec::new();
        while input.read_record(&mut record)? {
            input.check_stopped(&record)?;
            self.make_probes(&record, input.interfaces(), node, outputs)?;
            self.reloads.apply_before(record.number, node)?;
            // Merged reports whose time was up left before this packet arrived.
            node.handle_timeout(record.captured_at_ns);
            self.write_own(&record, 0, input.interfaces(), node, outputs)?;
            let (verdict, packet_at) = self.carry(&mut record, node, &mut buffer);
            if verdict == Verdict::Forward {
                outputs.write_packet(&record, input.interfaces())?;
            }
            self.write_own(&record, packet_at, input.interfaces(), node, outputs)?;
            if input.is_drained() {
                // The next packet may take a while.
                outputs.flush()?;
            }
        }
        node.flush_reports();
        self.write_own(&record, 0, input.interfaces(), node, outputs)
    }

    /// Makes the probes due before the packet in `record`, at most [`MAX_PROBES`].
    fn make_probes(
        &self,
        record: &Record,
        interfaces: &[Interface],
        node: &mut Node,
        outputs: &mut Outputs,
    ) -> Result<(), Error> {
        for _ in 0..MAX_PROBES {
            let due = node.next_probe_at().filter(|at| *at < record.captured_at_ns);
            let Some(captured_at_ns) = due else { break };
            node.handle_timeout(captured_at_ns);
            let at = Record { captured_at_ns, ..record.sibling(Vec::new()) };
            self.write_own(&at, 0, interfaces, node, outputs)?;
        }
        Ok(())
    }

    /// Writes what the node has produced, with the time of `record` and behind its link header of `packet_at`
    /// bytes.
    fn write_own(
        &self,
        record: &Record,
        packet_at: usize,
        interfaces: &[Interface],
        node: &mut Node,
        outputs: &mut Outputs,
    ) -> Result<(), Error> {
        let link_header = record.data.get(..packet_at).unwrap_or_default();
        let behind_link = |packet: &OwnPacket| [link_header, &packet.bytes].concat();
        while let Some(output) = node.poll_output() {
            match output {
                Output::Report(datagram) => outputs.write_report(datagram, record.captured_at_ns)?,
                Output::Reply(reply) => {
                    outputs.write_reply(&record.sibling(behind_link(&reply)), interfaces)?;
                }
                Output::Clone(clone) => {
                    // A clone is cut where its original was.
                    let mut cut = record.clone();
                    cut.replace_data(&behind_link(&clone));
                    outputs.write_packet(&cut, interfaces)?;
                }
                Output::Probe(probe) => self.write_probe(&probe, record, interfaces, outputs)?,
                // In a capture there is only one egress.
                Output::Copy(_) => {}
            }
        }
        Ok(())
    }

    /// Writes a probe, with the time and link type of `record`, if it leaves by the same interface as the
    /// packets.
    fn write_probe(
        &self,
        probe: &OwnPacket,
        record: &Record,
        interfaces: &[Interface],
        outputs: &mut Outputs,
    ) -> Result<(), Error> {
        if probe.egress != self.egress {
            return Ok(());
        }
        let bytes = match record.link_type {
            LinkType::ETHERNET => Some(probe.bytes.as_slice()),
            LinkType::RAW => probe.bytes.get(ETHERNET_BYTES..),
            _ => None,
        };
        let bytes = bytes.ok_or_else(|| {
            let link_type = record.link_type;
            anyhow!("a probe cannot be written to a capture of {link_type}, only of Ethernet and raw IP")
        })?;
        outputs.write_packet(&record.sibling(bytes.to_vec()), interfaces)
    }

    /// Passes the packet in `record` to the node and replaces it by the node's result; also returns where the
    /// packet starts behind its link header.
    fn carry(&self, record: &mut Record, node: &mut Node, buffer: &mut Vec<u8>) -> (Verdict, usize) {
        let captured_at_ns = (!record.is_untimed).then_some(record.captured_at_ns);
        let Handling { passage, drop } = self.device.handle(record.number, captured_at_ns);
        // The node counts what is not IP, including an empty frame.
        let not_ip = (Link::Ip, record.data.len());
        let (link, at) = start(record.link_type, &record.data).unwrap_or(not_ip);
        let (link_header, packet) = record.data.split_at(at);
        if let Some(reason) = drop {
            node.handle_drop(link, packet, &passage, reason);
            return (Verdict::Consume, at);
        }
        buffer.clear();
        buffer.resize(MAX_GROWTH, 0);
        buffer.extend_from_slice(packet);
        let Some(mut frame) = Frame::behind_headroom(buffer) else { return (Verdict::Forward, at) };
        let verdict = node.handle_frame(link, &mut frame, &passage);
        if frame.bytes() != packet {
            let mut changed = [link_header, frame.bytes()].concat();
            // A tunnel header may be of another version than the packet.
            if let Some((header, &[first, ..])) = changed.split_at_mut_checked(at).map(|(a, b)| (a, &*b)) {
                set_ip_version(record.link_type, header, first >> 4 == 6);
            }
            record.replace_data(&changed);
        }
        (verdict, at)
    }
}

/// Most probes made between two packets; the rest of a longer gap has none.
const MAX_PROBES: usize = 1000;

const ETHERNET_BYTES: usize = 14;
