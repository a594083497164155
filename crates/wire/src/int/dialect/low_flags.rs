//! The INT-MD flags of CableLabs, two bits lower than in 2.1.

use crate::int::md::MdHeader;

/// The position of the INT-MD flags in CableLabs headers.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-+-+-+-----------------------+---------+---------------+
/// |Ver = 2|D|E|M|       Reserved        | Hop ML  |RemainingHopCnt|  2.1
/// +-------+-+-+-+-----------------------+---------+---------------+
/// |Ver = 2|R R|D|E|M|     Reserved      | Hop ML  |RemainingHopCnt|  CableLabs
/// +-------+---+-+-+-+-------------------+---------+---------------+
/// ```
impl MdHeader {
    /// The header of CableLabs with the flags where 2.1 has them; reserved bits move, none is lost.
    #[must_use]
    pub const fn with_raised_flags(self) -> Self {
        self.with_turned_flags(10)
    }

    /// The header of 2.1 with the flags where CableLabs has them.
    #[must_use]
    pub const fn with_lowered_flags(self) -> Self {
        self.with_turned_flags(2)
    }

    /// Rotates the 12 bits after the version right by `places`.
    const fn with_turned_flags(self, places: u32) -> Self {
        let first = self.first_half();
        let turned = (first & 0x0fff) >> places | first << (12 - places) & 0x0fff;
        self.with_first_half(first & 0xf000 | turned)
    }
}
