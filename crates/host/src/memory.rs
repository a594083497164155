//! The memory of the programs' tables.

use std::fs;
use std::os::fd::{AsFd, AsRawFd};

use aya::Ebpf;
use aya::maps::Map;

/// The tables with an entry for each flow; an evicted flow starts anew.
pub(crate) const FLOW_TABLES: [&str; 2] = ["FLOWS", "SLICED_FLOWS"];
/// The maximum number of flows in each of them; the minimum is [`MIN_FLOWS`].
pub(crate) const MAX_FLOWS: u32 = 65_536;
pub(crate) const MIN_FLOWS: u32 = 1_024;
/// Maximum size of the tables of the program that watches drops, bytes.
pub(crate) const OF_DROPS: u64 = 6 << 20;
/// The size of a flow in all of them, with the kernel's overhead, bytes.
const FLOW_BYTES: u64 = 320;
/// The size of all other tables on a machine with few processors, those of drops included, bytes.
const OTHER_BYTES: u64 = 17 << 20;

/// The number of flows that fit into `most` bytes of memory.
pub(crate) fn flows_within(most: u64) -> u32 {
    let mut flows = MAX_FLOWS;
    while flows > MIN_FLOWS && u64::from(flows) * FLOW_BYTES + OTHER_BYTES > most {
        flows /= 2;
    }
    flows
}

/// The size of the tables as the kernel reports it, bytes; 0 for one that it does not report.
pub(crate) fn of(ebpf: &Ebpf) -> u64 {
    ebpf.maps().filter_map(|(_, map)| of_map(map)).sum()
}

fn of_map(map: &Map) -> Option<u64> {
    let (Map::Array(data)
    | Map::HashMap(data)
    | Map::LpmTrie(data)
    | Map::LruHashMap(data)
    | Map::PerCpuArray(data)
    | Map::PerCpuHashMap(data)
    | Map::RingBuf(data)) = map
    else {
        return None;
    };
    let fd = data.fd().as_fd().as_raw_fd();
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("memlock:")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::{MAX_FLOWS, MIN_FLOWS, flows_within};

    #[test]
    fn tables_of_flows_are_as_large_as_memory_allows() {
        assert_eq!(flows_within(64 << 20), MAX_FLOWS);
        assert_eq!(flows_within(24 << 20), MAX_FLOWS / 4);
        assert_eq!(flows_within(0), MIN_FLOWS);
    }
}
