//! The numbers of one flow.

use super::window::{NUMBERS, Window};

/// The numbers of one flow: which come next, which have come, which are missing.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    /// The first number that was seen.
    start: u32,
    /// The number that is expected.
    next: u32,
    window: Window,
    /// The numbers that are missing, the oldest gap first; at most [`MAX_GAPS`].
    gaps: Vec<Open>,
}

/// Numbers that are missing and may still come.
#[derive(Clone, Copy, Debug)]
struct Open {
    gap: Gap,
    /// The last number that is missing.
    last: u32,
}

/// Numbers that are missing between two that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last number in order before the gap.
    pub after: u32,
    /// How many numbers are missing.
    pub missing: u32,
    /// When the first packet behind the gap came, nanoseconds.
    pub opened_at: u64,
}

/// How a packet arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The next in its flow, whether or not others are missing before it.
    InOrder,
    /// After a later one, and in time.
    Reordered,
    /// After its loss was told.
    Late,
    /// For the second time.
    Duplicate,
    /// As the first of a source that counts anew.
    Restart,
    /// Of a flow for which there is no room.
    Unknown,
}

/// Most gaps of one flow that are open at once; the newest two become one where there are more.
const MAX_GAPS: usize = 32;

impl Numbers {
    /// The numbers of a flow that is first seen with `number`; what came before is nobody's loss.
    pub(super) fn new(number: u32) -> Self {
        let mut window = Window::new();
        window.advance(1);
        window.mark(0);
        Self { start: number, next: number.wrapping_add(1), window, gaps: Vec::new() }
    }

    /// Takes the number of a packet that came at `now`.
    ///
    /// [`Arrival::Restart`] leaves everything as it was.
    pub(super) fn take(&mut self, number: u32, now: u64) -> Arrival {
        let ahead = number.wrapping_sub(self.next);
        if ahead < 1 << 31 {
            self.advance(ahead, now);
            self.next = number.wrapping_add(1);
            return Arrival::InOrder;
        }
        let back = self.next.wrapping_sub(number) - 1;
        if back >= NUMBERS {
            // So old a number is none of a packet that was overtaken: the source has begun anew.
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
            // It was overtaken by the packet that was seen first.
            None if is_before(number, self.start) => Arrival::Reordered,
            None => Arrival::Late,
        }
    }

    /// Takes out the gaps that `is_closed` by the time they were opened at.
    pub(super) fn close(&mut self, is_closed: impl Fn(u64) -> bool) -> impl Iterator<Item = Gap> {
        self.gaps.extract_if(.., move |open| is_closed(open.gap.opened_at)).map(|open| open.gap)
    }

    /// Moves on by one number that came and `missing` in front of it.
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
            newest.gap.missing += missing;
            newest.last = last;
            return;
        }
        self.gaps.push(Open { gap: Gap { after, missing, opened_at: now }, last });
    }
}

impl Open {
    /// Whether the number lies in the gap; numbers in there that have come are marked in the window.
    fn holds(&self, number: u32) -> bool {
        let length = self.last.wrapping_sub(self.gap.after);
        let at = number.wrapping_sub(self.gap.after);
        at >= 1 && at <= length
    }
}

/// Whether `number` comes before `other`, in the half of the numbers below it.
fn is_before(number: u32, other: u32) -> bool {
    number != other && other.wrapping_sub(number) < 1 << 31
}
