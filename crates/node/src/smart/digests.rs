//! SD-Fabric's two registers of digests, for flows that the table has no room for.

use super::latency::{Latencies, Sensitivity};
use super::observation::Observation;
use super::reported::Reported;
use super::table::copy_into;

/// Two registers, each indexed by another part of a flow's hash, with a digest of flow and way in each cell.
///
/// A report is held back when either register has the digest, so two flows must meet in both of them to cause
/// reports that are not needed. SD-Fabric's digests have 16 bits and hold time and latency too; these have 64, so
/// that no change hides behind an equal digest. Time and latencies are kept beside them, so that two reports of a
/// flow are not close together where an epoch ends, nor where its latency is at the edge of a quantum.
#[derive(Clone, Debug)]
pub(super) struct Digests {
    registers: [Register; 2],
}

/// One register; both lists have the same order, and the second is empty until a packet has such latencies.
#[derive(Clone, Debug)]
struct Register {
    cells: Vec<Cell>,
    /// Latencies of the stack's hops, at most 255 each.
    upstream: Vec<Box<[u32]>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// 0 where there is nothing.
    digest: u64,
    reported: Reported,
    latencies: Latencies,
}

/// Cells of one register.
const CELLS: usize = 1 << 16;

impl Digests {
    /// Creates empty registers; the memory of digests is taken at once.
    pub(super) fn new() -> Self {
        let register = Register { cells: vec![Cell::default(); CELLS], upstream: Vec::new() };
        Self { registers: [register.clone(), register] }
    }

    /// Whether a report with `digest` went out less than the interval ago, and `seen` is like the flow's packet
    /// before; then `seen` is remembered.
    pub(super) fn hold_back(
        &mut self,
        hash: u64,
        digest: u64,
        seen: &Observation<'_>,
        now: u64,
        interval_ns: u64,
        sensitivity: Sensitivity,
    ) -> bool {
        let indices = indices(hash);
        let found = self.registers.iter_mut().zip(indices).find_map(|(register, index)| {
            let cell = register.cells.get_mut(index)?;
            let upstream = register.upstream.get(index).map_or([].as_slice(), |latencies| latencies);
            let is_held = cell.digest == digest.max(1)
                && !sensitivity.have_changed(cell.latencies, seen.latencies)
                && !sensitivity.have_changed_upstream(upstream, seen.upstream)
                && !cell.reported.is_over(now, interval_ns);
            is_held.then_some(cell.reported)
        });
        let Some(reported) = found else { return false };
        // A cell that another flow took is taken back, as in the original, which writes both on every packet.
        self.write(hash, digest, seen, reported);
        true
    }

    /// Remembers that `seen` was reported at `now`.
    pub(super) fn insert(&mut self, hash: u64, digest: u64, seen: &Observation<'_>, now: u64) {
        self.write(hash, digest, seen, Reported(now));
    }

    fn write(&mut self, hash: u64, digest: u64, seen: &Observation<'_>, reported: Reported) {
        let cell = Cell { digest: digest.max(1), reported, latencies: seen.latencies };
        for (register, index) in self.registers.iter_mut().zip(indices(hash)) {
            if let Some(at) = register.cells.get_mut(index) {
                *at = cell;
            }
            if register.upstream.is_empty() && !seen.upstream.is_empty() {
                register.upstream = vec![Box::default(); CELLS];
            }
            if let Some(latencies) = register.upstream.get_mut(index) {
                copy_into(latencies, seen.upstream);
            }
        }
    }
}

/// Where a hash is in the two registers.
fn indices(hash: u64) -> [usize; 2] {
    [hash >> 16, hash].map(|bits| usize::try_from(bits & 0xffff).unwrap_or_default())
}
