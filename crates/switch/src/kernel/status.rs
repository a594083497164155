//! The status of a switch whose packets Linux forwards.

use std::collections::BTreeMap;

use crate::counts::Cause;
use crate::status::{PortStatus, Status};

use super::drops::Drops;
use super::programs::Count;
use super::{KernelSwitch, Port};

impl KernelSwitch {
    /// The status of the switch.
    #[must_use]
    pub fn status(&self) -> Status {
        let sum =
            |count: Count| (0..).zip(&self.ports).map(|(at, _)| self.programs.count(at, count)).sum::<u64>();
        let [drops_not_told, drops_not_counted] = self.drops.as_ref().map(Drops::faults).unwrap_or_default();
        let mut outcomes = self.telemetry.outcomes();
        // The programs' work is counted under the names of the engine's.
        for (name, count) in [
            ("pushed", sum(Count::Pushed)),
            ("hops_exceeded", sum(Count::HopsExceeded)),
            ("mtu_exceeded", sum(Count::MtuExceeded)),
            ("no_headroom", sum(Count::NoHeadroom)),
        ] {
            *outcomes.entry(name).or_default() += count;
            *outcomes.entry("transit").or_default() += count;
        }
        *outcomes.entry("malformed").or_default() += sum(Count::Malformed);
        Status {
            node_id: self.config.node.id,
            io: "kernel",
            interfaces: (0..).zip(&self.ports).map(|(number, port)| self.port_status(number, port)).collect(),
            outcomes,
            reports: self.telemetry.reports(),
            table_version: self.counters.changes(),
            reloads: self.reloads,
            kernel: [
                ("extended", sum(Count::Pushed)),
                ("forwarded", sum(Count::Forwarded)),
                ("to_engine", sum(Count::ToEngine)),
                ("taken", self.way.taken),
                ("engine_losses", self.way.losses),
                ("from_engine", sum(Count::FromEngine) + self.sent_detached()),
                ("not_handed", sum(Count::NotHanded)),
                ("not_handed_dropped", sum(Count::NotHandedDropped)),
                ("left_without_int", sum(Count::LeftWithout)),
                ("lost_int", sum(Count::LostInt)),
                ("too_long", sum(Count::TooLong)),
                ("foreign", self.way.foreign),
                ("drops_not_told", drops_not_told),
                ("drops_not_counted", drops_not_counted),
            ]
            .into(),
            xdp: self.fast_path.words(),
            kernel_drops: self.kernel_drops(),
            drop_reasons: match &self.drops {
                Ok(_) => "on".to_owned(),
                Err(error) => format!("off: {error}"),
            },
            metadata: METADATA.into(),
            ..Status::default()
        }
    }

    /// Packets dropped by Linux, by device and the kernel's reason.
    fn kernel_drops(&self) -> BTreeMap<String, BTreeMap<String, u64>> {
        let mut named: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        let counts = self.drops.as_ref().map(Drops::counts).unwrap_or_default();
        for ((device, reason), count) in counts {
            let is_its = |port: &&Port| port.device.index == device || port.former.contains(&device);
            let port = self.ports.iter().find(is_its);
            let name = port.map_or_else(|| device.to_string(), |port| port.device.name.clone());
            *named.entry(name).or_default().entry(reason).or_default() += count;
        }
        named
    }

    /// Frames that were sent while the programs were detached.
    fn sent_detached(&self) -> u64 {
        self.ports.iter().map(|port| port.counts.sent_packets).sum()
    }

    fn port_status(&self, number: u32, port: &Port) -> PortStatus {
        let count = |count: Count| self.programs.count(number, count);
        let mut drops: BTreeMap<_, _> = port
            .counts
            .drops()
            .filter(|(_, count)| *count > 0)
            .map(|(cause, count)| (Cause::name(cause), count))
            .collect();
        for (name, count) in [
            ("not_handed", count(Count::NotHandedDropped)),
            ("lost_int", count(Count::LostInt)),
            ("too_long", count(Count::TooLong)),
        ] {
            if count > 0 {
                drops.insert(name, count);
            }
        }
        PortStatus {
            id: port.id,
            device: port.device.name.clone(),
            received_packets: count(Count::ReceivedPackets),
            received_bytes: count(Count::ReceivedBytes),
            sent_packets: count(Count::SentPackets) + port.counts.sent_packets,
            sent_bytes: count(Count::SentBytes) + port.counts.sent_bytes,
            drops,
            absence: port.absence.clone(),
            ..PortStatus::default()
        }
    }
}

/// The metadata of this node for packets that Linux forwards.
const METADATA: [(&str, &str); 7] = [
    ("hop_latency", "between the programs; not available where packets may wait in the device's queue"),
    ("queue_occupancy", "bytes in the device's root queue before the packet; not available without one"),
    ("ingress_timestamp", "when the program at the ingress sees the packet"),
    ("egress_timestamp", "when the program at the egress, or the engine, sees the packet"),
    ("egress_utilization", "not available"),
    ("buffer_occupancy", "not available"),
    ("checksum_complement", "not available in packets that the programs extend"),
];
