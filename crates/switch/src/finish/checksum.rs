//! Checksums of which the kernel has computed the part that a device could not.

use inband_wire::checksum::Sum;

/// Completes the checksum at `start + offset` over everything from `start` on; the field holds the sum of the
/// pseudo-header. `None`: it is not in the frame.
pub(super) fn complete(frame: &mut [u8], start: usize, offset: usize) -> Option<()> {
    let covered = frame.get_mut(start..)?;
    let checksum = match Sum::of(covered).checksum() {
        // UDP's zero says that there is none; for others both are the same number.
        0 => u16::MAX,
        checksum => checksum,
    };
    covered.get_mut(offset..offset + 2)?.copy_from_slice(&checksum.to_be_bytes());
    Some(())
}
