//! The time of the collector for a report.

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use anyhow::{Result, ensure};
use inband_collector::{Collector, CollectorSettings, PathSettings};
use inband_model::Nanos;

use crate::measure::Subject;
use crate::reports::Datagrams;

/// Passes each datagram to the collector, which checks its number, decodes and observes it, and polls the
/// outputs.
pub(crate) struct Ledger {
    collector: Collector,
    datagrams: Datagrams,
    now_ns: u64,
}

impl Ledger {
    /// Measures the whole collector, or its ledger and decoding when it does not `follow` flows.
    pub(crate) fn new(datagrams: Datagrams, follow: bool) -> Self {
        let paths = PathSettings { follow, ..PathSettings::default() };
        let collector = Collector::new(CollectorSettings { paths, ..CollectorSettings::default() });
        Self { collector, datagrams, now_ns: START_NS }
    }
}

impl Subject for Ledger {
    fn items(&self) -> usize {
        self.datagrams.reports()
    }

    fn prepare(&mut self) {
        self.datagrams.renumber();
    }

    fn run(&mut self) {
        for datagram in self.datagrams.iter() {
            self.now_ns += INTERVAL_NS;
            self.collector.handle_datagram(Nanos(self.now_ns), FROM, TO, black_box(datagram));
            while let Some(output) = self.collector.poll_output() {
                black_box(output);
            }
        }
    }

    fn verify(&mut self) -> Result<()> {
        let ledger = self.collector.ledger();
        ensure!(ledger.accepted_reports == self.items() as u64, "the reports were not accepted: {ledger:?}");
        Ok(())
    }
}

const FROM: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 40_000);
const TO: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 32_766);
/// A time in 2023, nanoseconds since 1970.
const START_NS: u64 = 1_700_000_000_000_000_000;
/// Between two datagrams, nanoseconds.
const INTERVAL_NS: u64 = 1_000;
