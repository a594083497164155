//! Sequence tracking of one flow.

use super::window::{NUMBERS, Window};

/// The sequence numbers of one flow: expected, received and missing.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    /// The first number received.
    start: u32,
    /// The next expected number.
    next: u32,
    window: Window,
    /// The open gaps, oldest first; at most [`MAX_GAPS`].
    gaps: Vec<Open>,
}

/// A gap whose numbers may still arrive.
#[derive(Clone, Copy, Debug)]
struct Open {
    gap: Gap,
    /// The last missing number.
    last: u32,
}

/// Numbers missing between two that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last number in order before the gap.
    pub after: u32,
    /// How many numbers are missing; `u32::MAX` stands for that or more.
    pub missing: u32,
    /// When the first packet after the gap arrived, nanoseconds.
    pub opened_at: u64,
}

/// The order in which a packet arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The next of its flow, whether or not others are missing before it.
    InOrder,
    /// After a later one, within the hold time.
    Reordered,
    /// After its gap was closed.
    Late,
    /// For the second time.
    Duplicate,
    /// The first after the source restarted its numbering.
    Restart,
    /// Of a flow that is not tracked, because the table is full.
    Unknown,
}

/// Maximum number of open gaps per flow; beyond it the newest two are merged.
const MAX_GAPS: usize = 32;

impl Numbers {
    /// Starts a flow at `number`; earlier packets do not count as lost.
    pub(super) fn new(number: u32) -> Self {
        let mut window = Window::new();
        window.advance(1);
        window.mark(0);
        Self { start: number, next: number.wrapping_add(1), window, gaps: Vec::new() }
    }

    /// Records the number of a packet that arrived at `now`.
    ///
    /// [`Arrival::Restart`] leaves the state unchanged.
    pub(super) fn take(&mut self, number: u32, now: u64) -> Arrival {
        let ahead = number.wrapping_sub(self.next);
        if ahead < 1 << 31 {
            self.advance(ahead, now);
            self.next = number.wrapping_add(1);
            return Arrival::InOrder;
        }
        let back = self.next.wrapping_sub(number) - 1;
        if back >= NUMBERS {
            // Too old for reordering: the source has restarted.
            return Arrival::Restart;
        }
        if !self.window.mark(back) {
            return Arrival::Duplicate;
        }
        match self.gaps.iter_mut().find(|open| open.holds(number)) {
            Some(open) => {
                open.gap.missing -= 1;
                self.gaps.retain(|open| open.gap.missing > 0);
                Arrival::Reordered
            }
            // Reordered before the first packet seen.
            None if is_before(number, self.start) => Arrival::Reordered,
            None => Arrival::Late,
        }
    }

    /// Removes the gaps for which `is_closed`, given their opening time, is true.
    pub(super) fn close(&mut self, is_closed: impl Fn(u64) -> bool) -> impl Iterator<Item = Gap> {
        self.gaps.extract_if(.., move |open| is_closed(open.gap.opened_at)).map(|open| open.gap)
    }

    /// Advances past one received number and `missing` before it.
    fn advance(&mut self, missing: u32, now: u64) {
        self.window.advance(missing.saturating_add(1));
        self.window.mark(0);
        if missing == 0 {
            return;
        }
        let after = self.next.wrapping_sub(1);
        let last = after.wrapping_add(missing);
        if self.gaps.len() >= MAX_GAPS
            && let Some(newest) = self.gaps.last_mut()
        {
            newest.gap.missing = newest.gap.missing.saturating_add(missing);
            newest.last = last;
            return;
        }
        self.gaps.push(Open { gap: Gap { after, missing, opened_at: now }, last });
    }
}

impl Open {
    /// Whether the number lies in the gap; received numbers in it are marked in the window.
    fn holds(&self, number: u32) -> bool {
        let length = self.last.wrapping_sub(self.gap.after);
        let at = number.wrapping_sub(self.gap.after);
        at >= 1 && at <= length
    }
}

/// Whether `number` precedes `other`, within half of the number space.
fn is_before(number: u32, other: u32) -> bool {
    number != other && other.wrapping_sub(number) < 1 << 31
}
