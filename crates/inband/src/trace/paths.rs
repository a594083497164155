//! How many flows it takes to find all paths.

/// How many flows to probe when `found` paths are known, so that one more path with an equal share would be
/// missed with a probability of at most 1 %.
pub(super) fn flows_needed(found: usize) -> u16 {
    let paths = found.max(1) as f64;
    // Of found + 1 paths, the last is missed by n flows with probability (paths / (paths + 1))^n, and any of them with at most
    // paths + 1 times that.
    let flows = (0.01 / (paths + 1.0)).ln() / (paths / (paths + 1.0)).ln();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by the line before")]
    let flows = flows.ceil().clamp(1.0, MAX_FLOWS) as u16;
    flows
}

/// Most flows that are probed.
const MAX_FLOWS: f64 = 512.0;

#[cfg(test)]
mod tests {
    use super::flows_needed;

    #[test]
    fn more_paths_take_more_flows() {
        assert_eq!([0, 1, 2, 4].map(flows_needed), [8, 8, 15, 28]);
        assert_eq!(flows_needed(10_000), 512);
    }
}
