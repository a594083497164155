//! The agent's part in leases: probes and their answers, UDP datagrams to and from the agents' own port.

mod generations;
mod notices;
mod sockets;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;

use inband_linux::clock;
use inband_linux::device::Device;
use inband_node::NodeConfig;
use ring::rand::{SecureRandom, SystemRandom};

use crate::abi::Proof;
use crate::clocks;
use crate::error::HostError;
use crate::headers::Headers;
use crate::lease::{
    Arrived, Asker, Body, Change, Flow, FlowState, Granter, Limits, MAX_LEASE_MS, Message, PathLosses,
    PeerClock, Stamp, Unproven, Withheld, dialect,
};
use crate::peers::{ENDED_ALWAYS, Flags, Peers};
use crate::prober::Prober;
use crate::programs::Programs;
use crate::rules::MappedPrefix;
use crate::settings::{HostSection, PeerSettings};
use generations::Generations;
use notices::Notices;
use sockets::{MAX_DATAGRAMS, Sockets};

/// The leases that the agent asks of other hosts and grants to them.
pub(super) struct Control {
    sockets: Sockets,
    prober: Prober,
    asker: Asker,
    granter: Granter,
    random: SystemRandom,
    /// The hosts that may be sent INT, and those whose INT is removed.
    peers: Peers,
    /// The programs' table of them.
    table: BTreeMap<MappedPrefix, Flags>,
    generations: Generations,
    losses: PathLosses,
    notices: Notices,
}

impl Control {
    pub(super) fn open(host: &HostSection, node: &NodeConfig) -> Result<Self, HostError> {
        let (id, dialect) = (node.node.id, dialect(node));
        let limits =
            Limits { per_second: host.probes_per_second.get(), per_minute: host.probes_per_minute.get() };
        let random = SystemRandom::new();
        let mut first = [0; 4];
        // A restarted agent starts at other generations; without random numbers the time supplies them.
        if random.fill(&mut first).is_err() {
            first = u32::try_from(clock::monotonic() >> 32).unwrap_or_default().to_ne_bytes();
        }
        Ok(Self {
            sockets: Sockets::open(host.control_port.get(), host.shared_keys()?),
            prober: Prober::new(node, host.interface),
            asker: Asker::new(id, dialect, host.lease_ms, limits),
            granter: Granter::new(id, dialect, host.lease_ms),
            random,
            peers: Peers::default(),
            table: BTreeMap::new(),
            generations: Generations::new(u32::from_ne_bytes(first)),
            losses: PathLosses::default(),
            notices: Notices::new(id, host.clock),
        })
    }

    /// Keeps removing the INT of addresses whose INT an earlier agent removed, each with the longest lease,
    /// milliseconds; returns when the last of these leases ends.
    pub(super) fn take_over(
        &mut self,
        addresses: Vec<(IpAddr, u32)>,
        programs: &mut Programs,
        now: u64,
    ) -> Result<u64, HostError> {
        let mut until = 0;
        for (address, lease_ms) in addresses {
            if self.granter.take_over(address, now) {
                // An earlier version did not write the length.
                let lease_ms = if lease_ms > 1 { lease_ms } else { MAX_LEASE_MS };
                // A renewal may last as long as the leases of this agent.
                programs.grant(address, lease_ms.max(self.granter.max_lease_ms()))?;
                until = until.max(now + u64::from(lease_ms) * 1_000_000);
            }
        }
        Ok(until)
    }

    /// Grants leases to sources that ask by `device`, where INT is removed.
    pub(super) fn open_gate(&mut self, device: &Device) -> Result<(), HostError> {
        if !self.sockets.open_gate(device)? {
            self.notices.notice_port(&device.name, self.sockets.port());
        }
        Ok(())
    }

    /// Tries again to open gates whose port another program had; returns notes for users.
    pub(super) fn open_missing_gates(&mut self) -> Vec<String> {
        let port = self.sockets.port();
        let opened = self.sockets.open_missing().into_iter();
        opened
            .map(|device| format!("UDP port {port} on {device} is free: other hosts can ask there"))
            .collect()
    }

    /// Ends the leases granted by `device`.
    pub(super) fn close_gate(&mut self, device: u32, now: u64) {
        self.withdraw(Some(device), now);
        self.sockets.close_gate(device);
    }

    /// How many flows have a lease.
    pub(super) fn leases_held(&self) -> usize {
        self.asker.held(clock::monotonic())
    }

    /// Every known flow, what keeps INT from it, and the end of its lease.
    pub(super) fn states(&self, now: u64) -> impl Iterator<Item = (Flow, FlowState, u64)> {
        self.asker.states(now)
    }

    /// The numbers of probes sent and of probes that could not be sent.
    pub(super) const fn probes(&self) -> (u64, u64) {
        (self.prober.sent, self.prober.failed)
    }

    /// Whether a flow is awaited, so that a lease can be granted.
    pub(super) fn is_waiting(&self) -> bool {
        self.granter.waiting().next().is_some()
    }

    /// The number of pairs of addresses with a lease.
    pub(super) fn leases_granted(&self) -> usize {
        self.granter.granted(clock::monotonic())
    }

    /// Every socket to poll.
    pub(super) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.sockets.all()
    }

    /// Probes the flow of `packet` if a probe is due; the probe leaves by `device`.
    pub(super) fn handle_unproven(
        &mut self,
        unproven: &Unproven,
        packet: &[u8],
        device: (u32, u16),
        programs: &mut Programs,
        now: u64,
    ) {
        let address = unproven.flow.destination;
        let Some(reply_port) = self.sockets.reply_port(unproven.flow.source, address) else { return };
        let (nonce, other) = (self.nonce(), self.nonce());
        let Some(probe) = self.asker.handle_unproven(unproven, reply_port, now, nonce) else { return };
        // It lets answers through this host's firewall, and its answer gives the reason where no probe
        // arrives.
        if let Some(question) = self.asker.ask(&unproven.flow, now, other) {
            self.sockets.ask(address, question);
        }
        let before = programs.sent_with_int(&unproven.flow);
        self.prober.send(packet, &probe, &self.sockets.keys, device);
        if let (Ok(before), Ok(after)) = (before, programs.sent_with_int(&unproven.flow)) {
            self.losses.handle_probe(unproven.flow, nonce, before, after);
        }
    }

    /// Answers a probe whose payload begins with `message`.
    pub(super) fn handle_probe(
        &mut self,
        message: &[u8],
        headers: &Headers,
        (device, arrived): (u32, u32),
        programs: &mut Programs,
        (now, clock_offset): (u64, u64),
    ) {
        let Some(message) = Message::from_bytes(message, &self.sockets.keys) else { return };
        let (flow, length) = (headers.flow, u32::try_from(headers.length).ok());
        let Flow { source, destination, .. } = flow;
        let is_of_flow = match message.body {
            Body::Probe { ports, protocol, length: said, .. } => {
                ports == (flow.source_port, flow.destination_port)
                    && protocol == flow.protocol
                    && Some(said) == length
            }
            _ => false,
        };
        if !is_of_flow || (message.source, message.destination) != (source, destination) {
            return;
        }
        let is_peer = self.is_peer(source);
        self.notices.notice_id(source, message.node_id);
        let Some(mut answer) = self.granter.handle_probe(&message, (flow, is_peer), device, now) else {
            return;
        };
        if let Body::Seen(stamp) = &mut answer.message.body {
            *stamp = Stamp { clock: clocks::code(self.notices.clock), time: now.wrapping_add(clock_offset) };
            let Ok((place, is_known)) = programs.await_flow(&flow, device) else { return };
            let generation = self.generations.at(place, is_known);
            self.granter.set_arrived(&flow, Arrived { generation, packets: arrived });
        }
        self.sockets.answer(&answer);
    }

    /// Handles an answer addressed to a container, where no agent receives it; returns a note for users.
    pub(super) fn handle_answer_to_container(
        &mut self,
        message: &[u8],
        from: SocketAddr,
        programs: &mut Programs,
        now: u64,
    ) -> Result<Option<String>, HostError> {
        match Message::from_bytes(message, &self.sockets.keys) {
            Some(message) => self.handle_answer(&message, from, programs, now),
            None => Ok(None),
        }
    }

    /// Every destination whose agent has answered.
    pub(super) fn known_peers(&self) -> impl Iterator<Item = (IpAddr, u32, Option<PeerClock>)> {
        self.asker.peers()
    }

    /// This host's node id.
    pub(super) const fn node_id(&self) -> u32 {
        self.notices.node_id
    }

    /// Probes that were due but not sent.
    pub(super) const fn withheld(&self) -> Withheld {
        self.asker.withheld()
    }

    /// The number of packets with INT counted on both sides, and the number lost.
    pub(super) const fn losses(&self) -> (u64, u64) {
        self.losses.total()
    }

    /// The same counts for one flow; `None`: not counted.
    pub(super) fn losses_of(&self, flow: &Flow) -> Option<(u64, u64)> {
        self.losses.of(flow)
    }

    /// Grants leases for flows whose packets have arrived.
    pub(super) fn grant(&mut self, programs: &mut Programs, now: u64) -> Result<(), HostError> {
        for (flow, device) in self.granter.waiting().collect::<Vec<_>>() {
            match programs.has_come(&flow, device)? {
                Some(true) => {
                    let Some((answer, is_new)) = self.granter.grant(&flow, now) else { continue };
                    // Without a place in the kernel's table its INT would not be removed.
                    if is_new && programs.grant(flow.source, self.granter.max_lease_ms()).is_err() {
                        self.granter.take_back(flow.source);
                        continue;
                    }
                    self.sockets.answer(&answer);
                }
                Some(false) => {}
                // Another flow took its place.
                None => {
                    let (place, is_known) = programs.await_flow(&flow, device)?;
                    let generation = self.generations.at(place, is_known);
                    self.granter.set_arrived(&flow, Arrived { generation, packets: 0 });
                }
            }
        }
        Ok(())
    }

    /// Removes expired flows, leases and addresses.
    pub(super) fn keep_leases(&mut self, programs: &mut Programs, now: u64) -> Result<(), HostError> {
        for flow in self.asker.forget_old(now) {
            programs.remove_proof(&flow)?;
            self.losses.forget(&flow);
        }
        for address in self.granter.forget_old(now) {
            programs.revoke(address)?;
        }
        if self.peers.forget_old(now) { self.apply_peers(programs) } else { Ok(()) }
    }

    fn is_peer(&self, address: IpAddr) -> bool {
        self.peers.current().iter().any(|peer| peer.prefix.contains(address))
    }

    /// Keeps removing the INT of prefixes whose INT an earlier agent removed without a lease.
    pub(super) fn inherit_peers(
        &mut self,
        prefixes: &[MappedPrefix],
        programs: &mut Programs,
        now: u64,
    ) -> Result<(), HostError> {
        self.peers.take_over(prefixes, now);
        self.apply_peers(programs)
    }

    /// Whether INT goes to peers without a lease, or may come from them.
    pub(super) fn has_permanent_peers(&self) -> bool {
        self.peers.has_former() || self.peers.current().iter().any(|peer| !peer.lease)
    }

    /// Passes the peers to the programs; at no time a prefix is missing that stays.
    fn apply_peers(&mut self, programs: &mut Programs) -> Result<(), HostError> {
        let wanted = self.peers.table();
        for (prefix, flags) in &wanted {
            if self.table.get(prefix) != Some(flags) {
                programs.set_peer(prefix, *flags)?;
                self.table.insert(*prefix, *flags);
            }
        }
        let gone: Vec<_> = self.table.keys().filter(|prefix| !wanted.contains_key(prefix)).copied().collect();
        for prefix in gone {
            programs.remove_peer(&prefix)?;
            self.table.remove(&prefix);
        }
        Ok(())
    }

    /// The addresses and prefixes whose INT the sinks remove.
    pub(super) fn senders(&self) -> BTreeSet<MappedPrefix> {
        let permanent = self.table.iter().filter(|(_, flags)| *flags & ENDED_ALWAYS != 0);
        let permanent = permanent.map(|(prefix, _)| *prefix);
        self.granter.senders().map(MappedPrefix::of_address).chain(permanent).collect()
    }

    /// Replaces the peers; leases of peers still on the list are kept.
    pub(super) fn set_peers(
        &mut self,
        peers: &[PeerSettings],
        programs: &mut Programs,
        now: u64,
    ) -> Result<(), HostError> {
        self.peers.set(peers, now);
        self.apply_peers(programs)?;
        let is_probed = |address| peers.iter().any(|peer| peer.lease && peer.prefix.contains(address));
        self.forget_leases_unless(is_probed, programs)
    }

    /// Forgets every lease of this host; its flows are probed again.
    pub(super) fn forget_leases(&mut self, programs: &mut Programs) -> Result<(), HostError> {
        self.forget_leases_unless(|_| false, programs)
    }

    /// Forgets the leases of flows to addresses that `is_kept` refuses.
    fn forget_leases_unless(
        &mut self,
        is_kept: impl Fn(IpAddr) -> bool,
        programs: &mut Programs,
    ) -> Result<(), HostError> {
        for flow in self.asker.forget_unless(is_kept) {
            self.losses.forget(&flow);
            programs.remove_proof(&flow)?;
        }
        Ok(())
    }

    /// Handles the datagrams that have arrived; returns notes for users.
    pub(super) fn hear(&mut self, programs: &mut Programs, now: u64) -> Result<Vec<String>, HostError> {
        let mut notes = Vec::new();
        let (asking, asked) = self.sockets.counts();
        for number in 0..asking {
            for _ in 0..MAX_DATAGRAMS {
                let Some((message, from)) = self.sockets.next_answer(number) else { break };
                notes.extend(self.handle_answer(&message, from, programs, now)?);
            }
        }
        for number in 0..asked {
            for _ in 0..MAX_DATAGRAMS {
                let Some((message, from, device)) = self.sockets.next_question(number) else { break };
                let is_peer = self.is_peer(from.ip());
                if let Some(answer) = self.granter.handle(&message, is_peer, device) {
                    self.sockets.reply(number, from, answer);
                }
            }
        }
        self.grant(programs, now)?;
        self.notices.move_to(&mut notes);
        Ok(notes)
    }

    /// Ends the granted leases of one device or of all; `false` when none is left.
    pub(super) fn withdraw(&mut self, device: Option<u32>, now: u64) -> bool {
        let withdrawn = self.granter.withdraw(device, now);
        withdrawn.iter().for_each(|answer| self.sockets.answer(answer));
        !withdrawn.is_empty()
    }

    fn handle_answer(
        &mut self,
        message: &Message,
        from: SocketAddr,
        programs: &mut Programs,
        now: u64,
    ) -> Result<Option<String>, HostError> {
        let flow = self.asker.flow_of(message.nonce);
        let change = self.asker.handle(message, now);
        if flow.is_some() {
            self.notices.notice_id(from.ip(), message.node_id);
        }
        if let (Some(flow), Body::Grant { arrived, .. }, Some(Change::Proof { .. })) =
            (flow, message.body, &change)
        {
            let sent = programs.sent_with_int(&flow)?;
            self.losses.handle_count(&flow, message.nonce, arrived, sent);
        }
        if let (Some(_), Body::Seen(stamp)) = (flow, message.body) {
            self.notices.notice_clock(from.ip(), stamp.clock);
        }
        match change {
            Some(Change::Proof { flow, until, renew_at, mtu }) => {
                programs.set_proof(&flow, Proof { until, renew_at, told: 0, mtu, padding: 0 })?;
                Ok(None)
            }
            Some(Change::Withdrawn { flows, message }) => {
                flows.iter().try_for_each(|flow| programs.remove_proof(flow))?;
                self.sockets.confirm(from, message);
                Ok(None)
            }
            Some(Change::Refused { address, flows, refusal }) => {
                flows.iter().try_for_each(|flow| programs.remove_proof(flow))?;
                Ok(self.notices.refusal(address, &refusal.text()))
            }
            None => Ok(None),
        }
    }

    /// An unpredictable number; 0, the same for all, without random numbers, so that no lease follows.
    fn nonce(&self) -> u64 {
        let mut bytes = [0; 8];
        match self.random.fill(&mut bytes) {
            Ok(()) => u64::from_ne_bytes(bytes),
            Err(_) => 0,
        }
    }
}
