//! The counters of Linux: of its devices, and of changes of its tables.

use std::io;

use inband_linux::netlink::{Group, Heard, Monitor, Netlink};
use inband_linux::statistics::Statistics;
use inband_node::{DeviceCounters, InterfaceCounters};

/// Reads the counters of Linux for packets whose metadata includes them.
#[derive(Debug)]
pub(super) struct KernelCounters {
    monitor: Monitor,
    netlink: Netlink,
    /// Announced changes of routes, neighbours, addresses and devices.
    changes: u64,
}

impl KernelCounters {
    /// Starts to count changes.
    ///
    /// # Errors
    /// An error of the kernel.
    pub(super) fn start() -> io::Result<Self> {
        Ok(Self { monitor: Monitor::open(&Group::ALL)?, netlink: Netlink::open()?, changes: 0 })
    }

    /// The number of changes so far.
    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    /// Counts the changes since the last call.
    pub(super) fn count_changes(&mut self) {
        let mut heard = 0;
        // An overrun is a change as well; after a failure the next call continues.
        if let Ok(Heard::Overrun) = self.monitor.poll(|_, _| heard += 1) {
            heard += 1;
        }
        self.changes += heard;
    }

    /// The counters for a packet between the devices with these interface indexes.
    pub(super) fn read(&mut self, ingress: u32, egress: u32) -> DeviceCounters {
        self.count_changes();
        let mut statistics = |device| Statistics::read(&mut self.netlink, device).ok().flatten();
        let (ingress, egress) = (statistics(ingress), statistics(egress));
        DeviceCounters {
            state_version: Some(self.changes),
            ingress: ingress.map(received).unwrap_or_default(),
            egress: egress.map(sent).unwrap_or_default(),
        }
    }
}

fn received(statistics: Statistics) -> InterfaceCounters {
    InterfaceCounters {
        packets: Some(statistics.received_packets),
        bytes: Some(statistics.received_bytes),
        drops: Some(statistics.receive_drops),
    }
}

fn sent(statistics: Statistics) -> InterfaceCounters {
    InterfaceCounters {
        packets: Some(statistics.sent_packets),
        bytes: Some(statistics.sent_bytes),
        drops: Some(statistics.send_drops),
    }
}
