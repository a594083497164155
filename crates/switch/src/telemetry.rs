//! The node of a switch, and how its reports leave.

use std::collections::BTreeMap;
use std::sync::Arc;

use inband_node::{Core, Frame, Node, NodeConfig, OwnPacket, Passage, Profile, Verdict};
use inband_wire::Link;

use crate::counts::Cause;
use crate::error::SwitchError;
use crate::packet::Packet;
use crate::reports::Senders;

/// The node of a switch, and how its reports leave.
#[derive(Debug)]
pub(crate) struct Telemetry {
    node: Node,
    senders: Senders,
    /// The code of packets that found no room in their queue.
    tail_drop: u8,
    /// Whether reports wait for others.
    groups_reports: bool,
}

impl Telemetry {
    pub(crate) fn start(config: &NodeConfig, profile: Arc<Profile>) -> Result<Self, SwitchError> {
        Ok(Self {
            node: Node::on_core(profile, Core::ONLY)?,
            senders: Senders::open(&config.report),
            tail_drop: config.drop_reasons.table.tail_drop(),
            groups_reports: config.report.sessions().iter().any(|session| session.group.get() > 1),
        })
    }

    /// Takes over what of `config` can change while the node runs.
    ///
    /// # Errors
    /// What is wrong in it; nothing has changed then.
    pub(crate) fn reload(&mut self, config: &NodeConfig) -> Result<(), SwitchError> {
        let profile = self.node.profile().reload(config)?;
        self.node.adopt(profile);
        Ok(())
    }

    /// Does the node's work on a packet that leaves.
    pub(crate) fn handle(&mut self, packet: &mut Packet, passage: &Passage) -> Verdict {
        let range = packet.range.clone();
        let Some(mut frame) = Frame::new(&mut packet.buffer, range) else { return Verdict::Consume };
        let verdict = self.handle_frame(&mut frame, passage);
        packet.range = frame.range();
        verdict
    }

    /// Does the node's work on a frame that leaves.
    pub(crate) fn handle_frame(&mut self, frame: &mut Frame<'_>, passage: &Passage) -> Verdict {
        self.node.handle_frame(Link::Ethernet, frame, passage)
    }

    /// The code in drop reports of packets that go nowhere for `cause`; `None`: they are not reported.
    pub(crate) fn code_of(&self, cause: Cause) -> Option<u8> {
        cause.code(self.tail_drop)
    }

    /// Has the node report a packet that was dropped.
    pub(crate) fn handle_drop(&mut self, packet: &Packet, passage: &Passage, code: u8) {
        self.node.handle_drop(Link::Ethernet, packet.bytes(), passage, code);
    }

    /// Has the node report a packet that Linux dropped, from its IP header on.
    pub(crate) fn handle_ip_drop(&mut self, packet: &[u8], passage: &Passage, code: u8) {
        self.node.handle_drop(Link::Ip, packet, passage, code);
    }

    pub(crate) fn handle_timeout(&mut self, now: u64) {
        self.node.handle_timeout(now);
    }

    /// Completes reports that wait for others.
    pub(crate) fn flush(&mut self) {
        self.node.flush_reports();
    }

    /// Sends the reports that the node has made, up to the next packet of its own, which it returns.
    pub(crate) fn poll_packet(&mut self, now: u64) -> Option<OwnPacket> {
        self.senders.drain(&mut self.node, now)
    }

    /// When the node sends its next probe, nanoseconds; `None`: it sends none.
    pub(crate) fn next_probe_at(&self) -> Option<u64> {
        self.node.next_probe_at()
    }

    /// Whether reports wait for others.
    pub(crate) fn groups_reports(&self) -> bool {
        self.groups_reports
    }

    /// What happened to packets, by the names of the engine.
    pub(crate) fn outcomes(&self) -> BTreeMap<&'static str, u64> {
        self.node.counters().iter().map(|(outcome, count)| (outcome.name(), count)).collect()
    }

    /// Reports by what became of them.
    pub(crate) fn reports(&self) -> BTreeMap<&'static str, u64> {
        let Senders { sent, failed, refused, .. } = self.senders;
        [("sent", sent), ("failed", failed), ("refused", refused)].into()
    }
}
