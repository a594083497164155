//! SD-Fabric's two digest registers, for flows that do not fit the table.

use super::latency::{Latencies, Sensitivity};
use super::observation::Observation;
use super::reported::Reported;
use super::table::copy_into;

/// Two registers, each indexed by a different part of a flow's hash, with a digest of flow and path in each
/// cell.
///
/// A report is suppressed when either register has the digest, so unneeded reports occur only if two flows
/// collide in both. SD-Fabric's digests have 16 bits and include time and latency; these have 64, so that no
/// change is masked by an equal digest. Time and latencies are stored beside them, so that two reports of a
/// flow do not follow each other closely at the end of an epoch, nor when its latency is at the edge of a
/// quantum.
#[derive(Clone, Debug)]
pub(super) struct Digests {
    registers: [Register; 2],
}

/// One register; both lists are parallel, and the second is empty until a packet has such latencies.
#[derive(Clone, Debug)]
struct Register {
    cells: Vec<Cell>,
    /// Latencies of the stack's hops, at most 255 each.
    upstream: Vec<Box<[u32]>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// 0 if the cell is empty.
    digest: u64,
    reported: Reported,
    latencies: Latencies,
}

/// Number of cells in a register.
const CELLS: usize = 1 << 16;

impl Digests {
    /// Creates empty registers; the memory of digests is allocated at once.
    pub(super) fn new() -> Self {
        let register = Register { cells: vec![Cell::default(); CELLS], upstream: Vec::new() };
        Self { registers: [register.clone(), register] }
    }

    /// Whether a report with `digest` went out less than the interval ago, and `seen` equals the flow's
    /// previous packet; if so, `seen` is stored.
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
        // A cell that another flow took is reclaimed, as in the original, which writes both on every packet.
        self.write(hash, digest, seen, reported);
        true
    }

    /// Records that `seen` was reported at `now`.
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

/// The cells of a hash in the two registers.
fn indices(hash: u64) -> [usize; 2] {
    [hash >> 16, hash].map(|bits| usize::try_from(bits & 0xffff).unwrap_or_default())
}
