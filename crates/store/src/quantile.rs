//! Exact quantiles: the smallest value that at least a share of all values does not exceed.

/// The quantile by nearest rank.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a length is from 0 to that length"
)]
pub(crate) fn quantile(values: &mut [i64], share: f64) -> Option<i64> {
    let last = values.len().checked_sub(1)?;
    let rank = (share * values.len() as f64).ceil() as usize;
    Some(*values.select_nth_unstable(rank.saturating_sub(1).min(last)).1)
}
