//! The TCP receiver: acknowledgments and out-of-order ranges.

use std::collections::BTreeMap;

use crate::tcp::Segment;

#[cfg(test)]
mod tests;

/// The server's end of a connection. It acknowledges every segment that occupies sequence space immediately.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receiver {
    /// The next unit expected.
    next: u64,
    /// Units received beyond a hole: first unit and the unit after the last. At most `MAX_RANGES`.
    out_of_order: BTreeMap<u64, u64>,
    /// The unit after the FIN, once it has been seen.
    end: Option<u64>,
}

impl Receiver {
    /// Processes a segment and returns the required answer.
    pub(crate) fn handle_segment(&mut self, segment: &Segment) -> Option<Segment> {
        if segment.units() == 0 {
            return None;
        }
        if segment.fin {
            self.end = Some(segment.end());
        }
        if segment.sequence <= self.next {
            self.next = self.next.max(segment.end());
            self.close_holes();
        } else if self.out_of_order.len() < MAX_RANGES {
            let end = self.out_of_order.entry(segment.sequence).or_default();
            *end = segment.end().max(*end);
        }
        Some(self.answer(segment))
    }

    /// The next unit expected: a reference point for sequence numbers.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Bytes of the stream received without a hole.
    pub(crate) fn received_bytes(&self) -> u64 {
        self.next.saturating_sub(1 + u64::from(self.has_ended()))
    }

    fn close_holes(&mut self) {
        while let Some(range) = self.out_of_order.first_entry()
            && *range.key() <= self.next
        {
            self.next = self.next.max(range.remove());
        }
    }

    /// Its own stream is a SYN (unit 0) and a FIN (unit 1), each repeated when the client repeats its own.
    fn answer(&self, segment: &Segment) -> Segment {
        let (syn, fin) = (segment.syn, self.has_ended());
        Segment { syn, fin, sequence: u64::from(!syn), acknowledgment: Some(self.next), length: 0 }
    }

    fn has_ended(&self) -> bool {
        self.end.is_some_and(|end| self.next >= end)
    }
}

/// Maximum number of stored ranges; segments beyond it are dropped, and the sender retransmits them.
const MAX_RANGES: usize = 64;
