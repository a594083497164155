//! What is remembered of flows that no table has room for? SD-Fabric's two registers of digests.

use super::filter::Reported;

/// Two registers, each indexed by another part of a flow's hash, with a digest of flow and way in each cell.
///
/// A report is held back when either register has the digest, so two flows must meet in both of them to cause
/// reports that are not needed. SD-Fabric's digests have 16 bits and hold the time too; these have 64, so that no
/// change hides behind an equal digest, and the time stands beside them, so that two reports of a flow are not
/// close together where an epoch ends.
#[derive(Clone, Debug)]
pub(super) struct Digests {
    registers: [Vec<Cell>; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// 0 where there is nothing.
    digest: u64,
    reported: Reported,
}

/// Cells of one register.
const CELLS: usize = 1 << 16;

impl Digests {
    /// Creates empty registers; memory is taken at once.
    pub(super) fn new() -> Self {
        Self { registers: [vec![Cell::default(); CELLS], vec![Cell::default(); CELLS]] }
    }

    /// Whether a report with `digest` went out less than the interval ago.
    pub(super) fn contains(&mut self, hash: u64, digest: u64, now: u64, interval_ns: u64) -> bool {
        let found = self.cells(hash).into_iter().flatten().find_map(|cell| {
            let is_held = cell.digest == digest.max(1) && !cell.reported.is_over(now, interval_ns);
            is_held.then_some(cell.reported)
        });
        let Some(reported) = found else { return false };
        // A cell that another flow took is taken back, as in the original, which writes both on every packet.
        self.write(hash, digest, reported);
        true
    }

    /// Remembers that a report went out at `now`.
    pub(super) fn insert(&mut self, hash: u64, digest: u64, now: u64) {
        self.write(hash, digest, Reported(now));
    }

    fn write(&mut self, hash: u64, digest: u64, reported: Reported) {
        for cell in self.cells(hash).into_iter().flatten() {
            *cell = Cell { digest: digest.max(1), reported };
        }
    }

    /// The two cells of a hash.
    fn cells(&mut self, hash: u64) -> [Option<&mut Cell>; 2] {
        let [first, second] = &mut self.registers;
        let index = |bits: u64| usize::try_from(bits & 0xffff).unwrap_or_default();
        [first.get_mut(index(hash >> 16)), second.get_mut(index(hash))]
    }
}
