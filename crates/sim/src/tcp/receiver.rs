//! What a TCP receiver answers: how far the stream has come, and what waits behind a hole.

use std::collections::BTreeMap;

use crate::tcp::Segment;

#[cfg(test)]
mod tests;

/// The server's end of a connection. It acknowledges every segment that takes up sequence space at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receiver {
    /// The next unit expected.
    next: u64,
    /// Units received beyond a hole: first unit and the unit behind the last. At most `MAX_RANGES`.
    out_of_order: BTreeMap<u64, u64>,
    /// The unit behind the FIN, once it has been seen.
    end: Option<u64>,
}

impl Receiver {
    /// Takes a segment in and gives the answer it calls for.
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

    /// The next unit expected: where sequence numbers are near.
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

/// Holes remembered; a segment behind more of them is dropped, and the sender repeats it.
const MAX_RANGES: usize = 64;
