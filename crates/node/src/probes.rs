//! The probe packets of a source, and their schedule.

use std::net::SocketAddr;

use inband_wire::datagram::{Datagram, MAX_HEADER_BYTES};
use inband_wire::layers::{Layers, Link, Strictness};

use crate::config::{EncapsulationKind, Mac, Mode, NodeConfig, ProbeConfig};
use crate::core::Core;
use crate::encapsulation::Carriage;
use crate::error::ConfigError;
use crate::output::OwnPacket;
use crate::waiting::Waiting;

/// The probes of the configuration.
#[derive(Clone, Debug)]
pub(crate) struct Probes(Vec<Probe>);

/// The schedule of probes, and pending probes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProbeSchedule {
    /// When each probe is next due, nanoseconds of the device's clock; `None` before the clock is known.
    due: Vec<Option<u64>>,
    waiting: Waiting<OwnPacket>,
}

/// A probe, sent repeatedly.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    /// The packet without INT, in an Ethernet frame.
    pub(crate) frame: Vec<u8>,
    /// Identifier of the egress interface.
    pub(crate) egress: u16,
    /// Whether the sink discards it.
    pub(crate) discard: bool,
    interval_ns: u64,
}

impl Probes {
    /// # Errors
    /// A probe that is invalid, or cannot carry INT as configured.
    pub(crate) fn new(config: &NodeConfig, carriage: &Carriage) -> Result<Self, ConfigError> {
        let probes = config.probes.iter().map(|probe| Probe::new(config, carriage, probe));
        Ok(Self(probes.collect::<Result<_, _>>()?))
    }

    /// The probe at `index`.
    pub(crate) fn get(&self, index: usize) -> Option<&Probe> {
        self.0.get(index)
    }
}

impl ProbeSchedule {
    /// The schedule of `core`: the first core generates all probes.
    pub(crate) fn new(probes: &Probes, core: Core) -> Self {
        let count = if core.is_first() { probes.0.len() } else { 0 };
        Self { due: vec![None; count], waiting: Waiting::default() }
    }

    /// Whether no probes are scheduled.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// When the next probe is due; `None` without probes, or before the clock is known.
    pub(crate) fn next_at(&self) -> Option<u64> {
        self.due.iter().flatten().copied().min()
    }

    /// The indices of the probes that are due at `now`, each once, however late; each is next due an interval
    /// later. Missed probes are not made up.
    pub(crate) fn take_due(&mut self, probes: &Probes, now: u64) -> Vec<usize> {
        let mut taken = Vec::new();
        for ((index, due), probe) in self.due.iter_mut().enumerate().zip(&probes.0) {
            let at = due.unwrap_or(now);
            if now >= at {
                let next = at.saturating_add(probe.interval_ns);
                *due = Some(if next <= now { now.saturating_add(probe.interval_ns) } else { next });
                taken.push(index);
            }
        }
        taken
    }

    /// Queues a probe; `false` if the queue is full.
    pub(crate) fn push(&mut self, packet: OwnPacket) -> bool {
        self.waiting.push(packet)
    }

    /// Returns the oldest pending probe.
    pub(crate) fn poll(&mut self) -> Option<OwnPacket> {
        self.waiting.poll()
    }
}

impl Probe {
    fn new(config: &NodeConfig, carriage: &Carriage, probe: &ProbeConfig) -> Result<Self, ConfigError> {
        let refuse = |key: &str, found: &dyn ToString, expected: &str| {
            Err(ConfigError::out_of_range(&format!("probe.{key}"), found.to_string(), expected))
        };
        if probe.source.is_ipv4() != probe.destination.is_ipv4() {
            return refuse("destination", &probe.destination, "an address of the source's IP version");
        }
        if !(1..=MAX_INTERVAL_MS).contains(&probe.interval_ms) {
            return refuse("interval_ms", &probe.interval_ms, "1 to 86400000");
        }
        if probe.payload > MAX_PAYLOAD {
            return refuse("payload", &probe.payload, "0 to 9000 bytes");
        }
        if !config.interfaces.iter().any(|interface| interface.id == probe.egress) {
            let value = format!("interface {}", probe.egress);
            return Err(ConfigError::Missing { key: "probe.egress".to_owned(), value });
        }
        if config.source.mode == Mode::Xd {
            return Err(ConfigError::unsupported("source.mode", "xd", "\"md\" and \"mx\" with [[probe]]"));
        }
        let frame = frame(config.node.id, probe);
        let layers = Layers::parse(Link::Ethernet, &frame, Strictness::Whole);
        let has_place = matches!(layers, Ok(Some(layers)) if carriage.place(&frame, &layers).is_some());
        if !has_place {
            let kind =
                if config.encapsulation.kind() == EncapsulationKind::Geneve { "geneve" } else { "vxlan-gpe" };
            let supported = "\"dscp\", \"udp-port\", \"probe-marker\", \"udp\" and \"gre\" with [[probe]]";
            return Err(ConfigError::unsupported("encapsulation.kind", kind, supported));
        }
        let interval_ns = probe.interval_ms * 1_000_000;
        Ok(Self { frame, egress: probe.egress, discard: probe.discard, interval_ns })
    }
}

fn frame(node_id: u32, probe: &ProbeConfig) -> Vec<u8> {
    let [a, b, c, d] = node_id.to_be_bytes();
    let Mac(source_mac) = probe.source_mac.unwrap_or(Mac([0x02, 0x01, a, b, c, d]));
    let datagram = Datagram {
        source_mac,
        destination_mac: probe.destination_mac.0,
        source: SocketAddr::new(probe.source, probe.source_port),
        destination: SocketAddr::new(probe.destination, probe.destination_port),
        dscp: 0,
    };
    let payload = vec![0; usize::from(probe.payload)];
    let mut frame = vec![0; MAX_HEADER_BYTES + payload.len()];
    // The versions match and the payload is short, so no error is left.
    let length = datagram.write(&payload, &mut frame).unwrap_or_default();
    frame.truncate(length);
    frame
}

const MAX_INTERVAL_MS: u64 = 86_400_000;
const MAX_PAYLOAD: u16 = 9_000;
