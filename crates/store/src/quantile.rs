//! Exact quantiles: the smallest value that at least a share of all values does not exceed.

/// The quantile by nearest rank.
pub(crate) fn quantile(values: &mut [i64], share: f64) -> Option<i64> {
    let place = place(share, values.len())?;
    Some(*values.select_nth_unstable(place).1)
}

/// The place of the quantile at `share`, 0 to 1, among `count` ascending values: 0 is the smallest value.
/// `None` without values.
pub(crate) fn place(share: f64, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    let rank = usize::try_from(rank(share, count as u64)).unwrap_or(usize::MAX);
    Some(rank.saturating_sub(1).min(last))
}

/// The rank of the quantile at `share`, 0 to 1, among `count` values: 1 is the smallest value, and a share of 0
/// has the rank 0.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a count is from 0 to that count"
)]
pub(crate) fn rank(share: f64, count: u64) -> u64 {
    (share * count as f64).ceil() as u64
}
