//! The memory of the programs' tables.

use std::fs;
use std::os::fd::{AsFd, AsRawFd};

use aya::Ebpf;
use aya::maps::Map;

/// The tables with a place for each flow; a flow that is forgotten for want of a place begins anew.
pub(crate) const FLOW_TABLES: [&str; 2] = ["FLOWS", "SLICED_FLOWS"];
/// Most flows in each of them, and least.
pub(crate) const MAX_FLOWS: u32 = 65_536;
pub(crate) const MIN_FLOWS: u32 = 1_024;
/// What the tables of the program that hears of drops take at most, bytes.
pub(crate) const OF_DROPS: u64 = 6 << 20;
/// What a flow takes in all of them, with what the kernel keeps for each, bytes.
const FLOW_BYTES: u64 = 320;
/// What all other tables take on a machine with few processors, those of drops among them, bytes.
const OTHER_BYTES: u64 = 17 << 20;

/// How many flows may fit into `most` bytes of memory.
pub(crate) fn flows_within(most: u64) -> u32 {
    let mut flows = MAX_FLOWS;
    while flows > MIN_FLOWS && u64::from(flows) * FLOW_BYTES + OTHER_BYTES > most {
        flows /= 2;
    }
    flows
}

/// What the kernel says that the tables take, bytes; one that it says nothing of counts nothing.
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
