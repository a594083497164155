//! The time to decode a report.

use std::hint::black_box;

use anyhow::{Result, ensure};
use inband_wire::int::{CodePoints, Md};
use inband_wire::report::ReportGroup;
use inband_wire::{Strictness, dissect};

use crate::measure::Subject;
use crate::reports::Datagrams;

/// Decodes each report in full: its header and metadata, the packet's five-tuple, and every hop on its stack.
pub(crate) struct Decode {
    datagrams: Datagrams,
    hops: usize,
}

impl Decode {
    pub(crate) fn new(datagrams: Datagrams) -> Self {
        Self { datagrams, hops: 0 }
    }
}

impl Subject for Decode {
    fn items(&self) -> usize {
        self.datagrams.reports()
    }

    fn prepare(&mut self) {
        self.datagrams.renumber();
    }

    fn run(&mut self) {
        self.hops = self.datagrams.iter().map(|datagram| decode(black_box(datagram))).sum();
    }

    fn verify(&mut self) -> Result<()> {
        let expected = HOPS_WITH_SINK * self.items();
        ensure!(self.hops == expected, "{} hops were read instead of {expected}", self.hops);
        Ok(())
    }
}

/// Decodes one datagram; returns the number of its hops.
fn decode(datagram: &[u8]) -> usize {
    let Ok(group) = ReportGroup::parse(datagram) else { return 0 };
    let mut hops = 0;
    for report in group.reports().flatten() {
        black_box(report.metadata());
        let Some((link, packet, _)) = report.packet() else { continue };
        let dissection = dissect(link, packet, &CodePoints::DEFAULT, Strictness::Truncated);
        black_box(dissection.flow);
        for (_, location) in dissection.int() {
            let Ok(md) = Md::parse(packet, location, &[]) else { continue };
            for hop in md.stack.hops() {
                black_box(hop.metadata());
                hops += 1;
            }
        }
    }
    hops
}

/// Hops on the stack of each reported packet.
const HOPS_WITH_SINK: usize = 5;
