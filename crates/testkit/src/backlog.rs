//! The queue in front of a processor that all network namespaces share.

use std::fs;

/// Raises the number of received packets that may wait for a processor to [`PACKETS`], if it is smaller and
/// this user is permitted to.
///
/// The kernel has one such queue per processor for the virtual devices of all namespaces, and drops packets
/// beyond its limit, 1,000 by default: a test that sends many packets at once takes packets from tests that
/// run beside it.
pub fn widen_backlog() {
    let is_small =
        fs::read_to_string(FILE).is_ok_and(|text| text.trim().parse().is_ok_and(|now: u32| now < PACKETS));
    if is_small {
        // Without the right to do so, tests run with the machine's own limit.
        let _ = fs::write(FILE, PACKETS.to_string());
    }
}

const FILE: &str = "/proc/sys/net/core/netdev_max_backlog";
/// More than the tests that run at the same time have under way.
const PACKETS: u32 = 16_384;
