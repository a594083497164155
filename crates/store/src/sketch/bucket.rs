//! Logarithmic buckets.

/// The bucket of a value: small values have one each; others share one by their leading bits.
pub(crate) fn bucket(value: u64) -> u32 {
    let Some(shift) = (value | 1).ilog2().checked_sub(FINE_BITS) else {
        return u32::try_from(value).unwrap_or(0);
    };
    let leading = u32::try_from(value >> shift).unwrap_or(0);
    (shift << FINE_BITS) + leading
}

/// The middle of a bucket.
pub(crate) fn middle(bucket: u32) -> u64 {
    let shift = (bucket >> FINE_BITS).saturating_sub(1);
    let leading = u64::from(bucket - (shift << FINE_BITS));
    let least = leading << shift;
    least + ((1 << shift) - 1) / 2
}

/// Bits after the leading one that select a bucket.
const FINE_BITS: u32 = 5;
/// The number of buckets.
pub(crate) const BUCKETS: usize = LAST_BUCKET as usize + 1;
/// The bucket of the largest number.
pub(super) const LAST_BUCKET: u32 = (58 << FINE_BITS) + 63;
