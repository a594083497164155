//! Checksums whose final part was left to a device.

use inband_wire::checksum::Sum;

/// Completes the checksum at `start + offset` over everything from `start` on; the field holds the sum of the
/// pseudo-header. `None`: the checksum is outside the frame.
pub(super) fn complete(frame: &mut [u8], start: usize, offset: usize) -> Option<()> {
    let covered = frame.get_mut(start..)?;
    let checksum = match Sum::of(covered).checksum() {
        // Zero means no checksum in UDP; elsewhere both values are the same number.
        0 => u16::MAX,
        checksum => checksum,
    };
    covered.get_mut(offset..offset + 2)?.copy_from_slice(&checksum.to_be_bytes());
    Some(())
}
