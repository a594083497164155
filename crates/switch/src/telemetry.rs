//! The node of a switch, and its report senders.

use std::collections::BTreeMap;
use std::sync::Arc;

use inband_linux::connected::Outcomes;
use inband_node::{Core, Frame, Node, NodeConfig, OwnPacket, Passage, Profile, Verdict};
use inband_wire::Link;
use inband_wire::drop_reason::Table;

use crate::counts::Cause;
use crate::error::SwitchError;
use crate::packet::Packet;
use crate::reports::Senders;

/// The node of a switch, and its report senders.
#[derive(Debug)]
pub(crate) struct Telemetry {
    node: Node,
    senders: Senders,
    /// The table of drop reasons.
    table: Table,
    /// Whether reports are grouped.
    groups_reports: bool,
    /// Whether the device's counters are used.
    reads_counters: bool,
}

impl Telemetry {
    pub(crate) fn start(config: &NodeConfig, profile: Arc<Profile>) -> Result<Self, SwitchError> {
        Ok(Self {
            reads_counters: profile.reads_counters(),
            node: Node::on_core(profile, Core::ONLY)?,
            senders: Senders::open(&config.report),
            table: config.drop_reasons.table,
            groups_reports: config.report.sessions().iter().any(|session| session.group.get() > 1),
        })
    }

    /// Applies the settings of `config` that can change while the node runs.
    ///
    /// # Errors
    /// A mistake in it; nothing has changed then.
    pub(crate) fn reload(&mut self, config: &NodeConfig) -> Result<(), SwitchError> {
        let profile = self.node.profile().reload(config)?;
        self.node.adopt(profile);
        self.table = config.drop_reasons.table;
        Ok(())
    }

    /// Adopts other MTUs, bytes, by the identifier of the interface.
    pub(crate) fn adopt_mtus(&mut self, mtu: impl Fn(u16) -> Option<usize>) {
        let profile = self.node.profile().with_mtus(mtu);
        self.node.adopt(profile);
    }

    /// Does the node's work on a departing packet.
    pub(crate) fn handle(&mut self, packet: &mut Packet, passage: &Passage) -> Verdict {
        let range = packet.range.clone();
        let Some(mut frame) = Frame::new(&mut packet.buffer, range) else { return Verdict::Consume };
        let verdict = self.handle_frame(&mut frame, passage);
        packet.range = frame.range();
        verdict
    }

    /// Does the node's work on a departing frame.
    pub(crate) fn handle_frame(&mut self, frame: &mut Frame<'_>, passage: &Passage) -> Verdict {
        self.node.handle_frame(Link::Ethernet, frame, passage)
    }

    /// The code in drop reports of packets dropped for `cause`; `None`: they are not reported.
    pub(crate) fn code_of(&self, cause: Cause, is_ipv6: bool) -> Option<u8> {
        cause.code(self.table, is_ipv6)
    }

    /// Lets the node report a dropped packet.
    pub(crate) fn handle_drop(&mut self, packet: &Packet, passage: &Passage, code: u8) {
        self.node.handle_drop(Link::Ethernet, packet.bytes(), passage, code);
    }

    /// Lets the node report a packet that Linux dropped, from its IP header on.
    pub(crate) fn handle_ip_drop(&mut self, packet: &[u8], passage: &Passage, code: u8) {
        self.node.handle_drop(Link::Ip, packet, passage, code);
    }

    pub(crate) fn handle_timeout(&mut self, now: u64) {
        self.node.handle_timeout(now);
    }

    /// Completes grouped reports.
    pub(crate) fn flush(&mut self) {
        self.node.flush_reports();
    }

    /// Sends the node's reports, up to its next packet, which it returns.
    pub(crate) fn poll_packet(&mut self, now: u64) -> Option<OwnPacket> {
        self.senders.drain(&mut self.node, now)
    }

    /// When the node sends its next probe, nanoseconds; `None`: no probes.
    pub(crate) fn next_probe_at(&self) -> Option<u64> {
        self.node.next_probe_at()
    }

    /// Whether reports are grouped.
    pub(crate) fn groups_reports(&self) -> bool {
        self.groups_reports
    }

    /// Whether the device's counters are used.
    pub(crate) fn reads_counters(&self) -> bool {
        self.reads_counters
    }

    /// Packets by outcome, under the engine's names.
    pub(crate) fn outcomes(&self) -> BTreeMap<&'static str, u64> {
        self.node.counters().iter().map(|(outcome, count)| (outcome.name(), count)).collect()
    }

    /// Reports by outcome.
    pub(crate) fn reports(&self) -> BTreeMap<&'static str, u64> {
        let Outcomes { sent, failed, refused } = self.senders.outcomes;
        [("sent", sent), ("failed", failed), ("refused", refused)].into()
    }
}
