//! Reporting of packets that the kernel drops.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use inband_node::Node;

use super::port::Port;
use crate::drops::{DropCount, DropOutcome, Drops, InterfaceIds, Namespace, Namespaces};
use crate::error::HostError;
use crate::plan::Plan;
use crate::rules::MappedPrefix;

/// Drops of watched flows, from the kernel to the reports.
pub(super) struct Losses {
    drops: Drops,
    own: Namespace,
    namespaces: Namespaces,
    /// The number of namespaces that are too many to be watched.
    beyond: usize,
    /// When the kernel's counts are next read, nanoseconds of the monotonic clock.
    next_counts: u64,
    by_reason: BTreeMap<String, u64>,
}

/// How often the kernel's counts are read, nanoseconds.
const COUNTS_NS: u64 = 1_000_000_000;
/// Maximum number of packets in one turn, so that other work gets its share.
const MAX_PACKETS: usize = 4096;
/// Maximum number of reasons in the tally; kernels have about 130.
const MAX_REASONS: usize = 512;

/// The interfaces of the agent: its devices, each with its shim, and the host itself.
struct Ids<'a> {
    namespace: Namespace,
    ports: &'a [Port],
    host: u16,
}

impl InterfaceIds for Ids<'_> {
    fn id(&self, namespace: Namespace, device: u32) -> Option<u16> {
        // A container's devices are no interfaces of the node.
        if namespace != self.namespace {
            return None;
        }
        let is_of = |port: &&Port| port.device.index == device || port.is_shim(device);
        self.ports.iter().find(is_of).map(|port| port.id)
    }

    fn host(&self) -> u16 {
        self.host
    }
}

impl Losses {
    /// Starts watching drops in this network namespace, and in those whose files match `patterns`.
    ///
    /// # Errors
    /// A kernel that does not report drops, or not to this user.
    pub(super) fn open(plan: &Plan, patterns: &[PathBuf]) -> Result<Self, HostError> {
        let namespaces = Namespaces::new(patterns);
        let (present, beyond) = namespaces.present()?;
        let mut drops = Drops::load(&plan.host(0), &present)?;
        // No host has a lease before the first turn.
        drops.believe(BTreeSet::new())?;
        drops.attach()?;
        let (own, by_reason) = (Namespace::own()?, BTreeMap::new());
        Ok(Self { drops, own, namespaces, beyond, next_counts: 0, by_reason })
    }

    /// Watches the namespaces whose files match `patterns` from here on.
    pub(super) fn watch(&mut self, patterns: &[PathBuf]) -> Result<(), HostError> {
        self.namespaces = Namespaces::new(patterns);
        self.look_around()
    }

    /// The number of namespaces beyond the maximum; their drops are not reported.
    pub(super) const fn beyond(&self) -> usize {
        self.beyond
    }

    /// Follows namespaces that come and go.
    fn look_around(&mut self) -> Result<(), HostError> {
        let (present, beyond) = self.namespaces.present()?;
        self.beyond = beyond;
        self.drops.look_at(&present)
    }

    /// Readable when packets wait for [`Losses::hear`].
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.drops.as_fd()
    }

    /// Applies another plan from the next packet on.
    pub(super) fn configure(&mut self, plan: &Plan) -> Result<(), HostError> {
        self.drops.configure(&plan.host(0))
    }

    /// Passes the drops until `now`, of the monotonic clock, to the engine.
    pub(super) fn hear(
        &mut self,
        (plan, ports): (&Plan, &[Port]),
        engine: &mut Node,
        senders: impl FnOnce() -> BTreeSet<MappedPrefix>,
        now: u64,
    ) -> Result<(), HostError> {
        let ids = Ids { namespace: self.own, ports, host: plan.host_interface };
        for _ in 0..MAX_PACKETS {
            let Some(packet) = self.drops.poll_packet() else { break };
            packet.tell(engine, &ids);
        }
        if now >= self.next_counts {
            self.next_counts = now + COUNTS_NS;
            self.look_around()?;
            self.drops.believe(senders())?;
            self.drops.set_devices(self.own, ports.iter().map(|port| port.device.index).collect())?;
            let counts = self.drops.take_counts()?;
            self.tell(&counts, engine, &ids);
        }
        Ok(())
    }

    /// Passes all remaining drops to the engine and stops watching.
    pub(super) fn finish(
        &mut self,
        (plan, ports): (&Plan, &[Port]),
        engine: &mut Node,
    ) -> Result<(), HostError> {
        let counts = self.drops.finish()?;
        self.hear((plan, ports), engine, BTreeSet::new, 0)?;
        let ids = Ids { namespace: self.own, ports, host: plan.host_interface };
        self.tell(&counts, engine, &ids);
        Ok(())
    }

    /// Dropped packets by the kernel's reason.
    pub(super) const fn by_reason(&self) -> &BTreeMap<String, u64> {
        &self.by_reason
    }

    /// Dropped packets of watched flows that could not be counted by flow.
    pub(super) fn not_held(&self) -> Result<u64, HostError> {
        self.drops.count(DropOutcome::NotHeld)
    }

    fn tell(&mut self, counts: &[DropCount], engine: &mut Node, ids: &Ids<'_>) {
        for count in counts {
            count.tell(engine, ids);
            let has_room = self.by_reason.len() < MAX_REASONS;
            match self.by_reason.get_mut(&count.reason) {
                Some(packets) => *packets += count.packets,
                None if has_room => {
                    self.by_reason.insert(count.reason.clone(), count.packets);
                }
                None => {}
            }
        }
    }
}
