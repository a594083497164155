//! The TCP sender: window, slow start, congestion avoidance, fast and timed-out retransmission.

use crate::flow::TcpTraffic;
use crate::tcp::Segment;
use crate::time::{MILLISECOND, Nanos, SECOND};

#[cfg(test)]
mod tests;

/// The client's end of a connection, which opens it, sends the data and closes it (`NewReno`, RFC 6582; timer
/// of RFC 6298 with the bounds of a data center).
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    traffic: TcpTraffic,
    opened_at: Nanos,
    /// The oldest unacknowledged unit.
    unacknowledged: u64,
    /// The next unit to send.
    next: u64,
    /// The unit after the highest one ever sent.
    highest: u64,
    congestion_window: u64,
    slow_start_threshold: u64,
    duplicate_acks: u32,
    /// The value of `highest` when the window last held a segment back: the window grows only if it is the
    /// limit.
    limited_up_to: u64,
    in_recovery: bool,
    /// The value of `highest` when the last loss was detected.
    recover: u64,
    retransmit: bool,
    /// Units received from the other end: its SYN and its FIN.
    received: u64,
    owes_ack: bool,
    timer: RetransmissionTimer,
    timeouts: u32,
}

#[derive(Clone, Debug)]
struct RetransmissionTimer {
    expires_at: Option<Nanos>,
    timeout_ns: Nanos,
    smoothed_ns: Option<Nanos>,
    variation_ns: Nanos,
    /// A unit sent only once, and its send time: Karn's rule permits no other measurement.
    timed: Option<(u64, Nanos)>,
}

impl Sender {
    pub(crate) fn new(traffic: TcpTraffic, opened_at: Nanos) -> Sender {
        Sender {
            traffic,
            opened_at,
            unacknowledged: 0,
            next: 0,
            highest: 0,
            congestion_window: 10 * MSS,
            slow_start_threshold: u64::MAX,
            duplicate_acks: 0,
            limited_up_to: 0,
            in_recovery: false,
            recover: 0,
            retransmit: false,
            received: 0,
            owes_ack: false,
            timer: RetransmissionTimer::new(),
            timeouts: 0,
        }
    }

    /// Processes a segment from the other end.
    pub(crate) fn handle_segment(&mut self, now: Nanos, segment: &Segment) {
        if segment.units() > 0 {
            self.received = self.received.max(segment.end());
            self.owes_ack = true;
        }
        let Some(acknowledgment) = segment.acknowledgment else { return };
        if acknowledgment > self.highest {
            return;
        }
        if acknowledgment > self.unacknowledged {
            self.handle_progress(now, acknowledgment);
        } else if acknowledgment == self.unacknowledged && self.in_flight() > 0 && segment.units() == 0 {
            self.handle_duplicate();
        }
    }

    /// Retransmits when the timer has expired; application writes need no action here.
    pub(crate) fn handle_timeout(&mut self, now: Nanos) {
        if self.timer.expires_at.is_none_or(|at| at > now) {
            return;
        }
        self.timeouts += 1;
        self.timer.back_off();
        self.slow_start_threshold = (self.in_flight() / 2).max(2 * MSS);
        self.congestion_window = MSS;
        self.next = self.unacknowledged;
        self.recover = self.highest;
        self.in_recovery = false;
        self.duplicate_acks = 0;
    }

    /// The next segment the window allows at `now`.
    pub(crate) fn poll_segment(&mut self, now: Nanos) -> Option<Segment> {
        if self.has_failed() {
            return None;
        }
        if std::mem::take(&mut self.retransmit) && self.in_flight() > 0 {
            let again = self.segment_at(self.unacknowledged, self.written(now))?;
            self.timer.arm(now);
            return Some(self.sent(again));
        }
        if let Some(segment) = self.next_in_window(now) {
            if segment.sequence >= self.highest {
                self.timer.measure(segment.sequence, now);
            }
            self.timer.start(now);
            return Some(self.sent(segment));
        }
        self.owes_ack.then(|| self.sent(Segment { sequence: self.next, ..Segment::default() }))
    }

    /// When to call `handle_timeout` and `poll_segment` next.
    pub(crate) fn deadline(&self, now: Nanos) -> Option<Nanos> {
        if self.has_failed() {
            return None;
        }
        let write = self.next_write(now).filter(|_| self.unacknowledged > 0);
        [self.timer.expires_at, write].into_iter().flatten().min()
    }

    /// Whether everything is acknowledged, including the FIN.
    pub(crate) fn is_done(&self) -> bool {
        self.traffic.bytes.is_some_and(|bytes| self.unacknowledged >= bytes + 2)
    }

    /// Whether the connection was aborted because no answer arrived.
    pub(crate) fn has_failed(&self) -> bool {
        self.timeouts > MAX_TIMEOUTS
    }

    /// The oldest unacknowledged unit: a reference point for sequence numbers.
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.unacknowledged
    }

    /// Units received from the other end.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    fn handle_progress(&mut self, now: Nanos, acknowledgment: u64) {
        let acked = acknowledgment - self.unacknowledged;
        self.timer.sample(now, acknowledgment);
        self.timeouts = 0;
        self.duplicate_acks = 0;
        self.unacknowledged = acknowledgment;
        self.next = self.next.max(acknowledgment);
        if self.in_recovery && acknowledgment < self.recover {
            // A partial acknowledgment: the next hole is lost as well.
            self.retransmit = true;
            self.congestion_window = self.congestion_window.saturating_sub(acked).max(MSS) + MSS;
        } else if self.in_recovery {
            self.in_recovery = false;
            self.congestion_window = self.slow_start_threshold;
        } else if acknowledgment <= self.limited_up_to {
            self.open_window(acked);
        }
        self.timer.expires_at = None;
        if self.in_flight() > 0 {
            self.timer.arm(now);
        }
    }

    fn handle_duplicate(&mut self) {
        self.duplicate_acks += 1;
        if self.in_recovery {
            self.congestion_window += MSS;
        } else if self.duplicate_acks == 3 && self.unacknowledged > self.recover {
            self.in_recovery = true;
            self.recover = self.highest;
            self.retransmit = true;
            self.timer.timed = None;
            self.slow_start_threshold = (self.in_flight() / 2).max(2 * MSS);
            self.congestion_window = self.slow_start_threshold + 3 * MSS;
        }
    }

    fn open_window(&mut self, acked: u64) {
        let step = if self.congestion_window < self.slow_start_threshold {
            acked.min(MSS)
        } else {
            (MSS * acked / self.congestion_window).max(1)
        };
        self.congestion_window = (self.congestion_window + step).min(WINDOW);
    }

    fn next_in_window(&mut self, now: Nanos) -> Option<Segment> {
        if self.next > 0 && self.unacknowledged == 0 {
            return None; // The handshake is still going on.
        }
        let segment = self.segment_at(self.next, self.written(now))?;
        let in_flight = self.next - self.unacknowledged;
        let window = self.congestion_window.min(WINDOW);
        if in_flight > 0 && in_flight + segment.units() > window {
            self.limited_up_to = self.highest;
            return None;
        }
        Some(segment)
    }

    /// The segment that starts at `unit` when the application has written `written` bytes.
    fn segment_at(&self, unit: u64, written: u64) -> Option<Segment> {
        let segment = Segment { sequence: unit, ..Segment::default() };
        if unit == 0 {
            return Some(Segment { syn: true, ..segment });
        }
        let offset = unit - 1;
        if offset < written {
            let length = usize::try_from((written - offset).min(MSS)).ok()?;
            return Some(Segment { length, ..segment });
        }
        (self.traffic.bytes == Some(offset)).then_some(Segment { fin: true, ..segment })
    }

    fn sent(&mut self, segment: Segment) -> Segment {
        self.owes_ack = false;
        self.next = self.next.max(segment.end());
        self.highest = self.highest.max(self.next);
        Segment { acknowledgment: (self.received > 0).then_some(self.received), ..segment }
    }

    /// Number of units in flight.
    fn in_flight(&self) -> u64 {
        self.highest - self.unacknowledged
    }

    /// Bytes the application has written by `now`.
    fn written(&self, now: Nanos) -> u64 {
        let limit = self.traffic.bytes.unwrap_or(u64::MAX >> 2);
        let Some(writes) = self.traffic.writes else { return limit };
        let done = now.saturating_sub(self.opened_at) / writes.every_ns.max(1) + 1;
        done.saturating_mul(u64::from(writes.bytes)).min(limit)
    }

    /// When the application writes again, if the sender waits for that.
    fn next_write(&self, now: Nanos) -> Option<Nanos> {
        let writes = self.traffic.writes?;
        let written = self.written(now);
        let finished = self.traffic.bytes.is_some_and(|bytes| written >= bytes);
        if finished || self.next <= written {
            return None;
        }
        let every_ns = writes.every_ns.max(1);
        Some(self.opened_at + (now.saturating_sub(self.opened_at) / every_ns + 1) * every_ns)
    }
}

impl RetransmissionTimer {
    fn new() -> RetransmissionTimer {
        RetransmissionTimer {
            expires_at: None,
            timeout_ns: INITIAL_TIMEOUT_NS,
            smoothed_ns: None,
            variation_ns: 0,
            timed: None,
        }
    }

    fn arm(&mut self, now: Nanos) {
        self.expires_at = Some(now + self.timeout_ns);
    }

    fn start(&mut self, now: Nanos) {
        if self.expires_at.is_none() {
            self.arm(now);
        }
    }

    fn back_off(&mut self) {
        self.expires_at = None;
        self.timed = None;
        self.timeout_ns = (self.timeout_ns * 2).min(MAX_TIMEOUT_NS);
    }

    fn measure(&mut self, unit: u64, now: Nanos) {
        self.timed.get_or_insert((unit, now));
    }

    fn sample(&mut self, now: Nanos, acknowledgment: u64) {
        let Some((_, sent_at)) = self.timed.take_if(|(unit, _)| *unit < acknowledgment) else { return };
        let sample_ns = now - sent_at;
        let smoothed_ns = match self.smoothed_ns {
            None => {
                self.variation_ns = sample_ns / 2;
                sample_ns
            }
            Some(smoothed_ns) => {
                self.variation_ns = (3 * self.variation_ns + smoothed_ns.abs_diff(sample_ns)) / 4;
                (7 * smoothed_ns + sample_ns) / 8
            }
        };
        self.smoothed_ns = Some(smoothed_ns);
        self.timeout_ns = (smoothed_ns + 4 * self.variation_ns).clamp(MIN_TIMEOUT_NS, MAX_TIMEOUT_NS);
    }
}

/// Maximum segment size, bytes: an Ethernet MTU of 1500 less IPv4 and TCP headers.
pub(crate) const MSS: u64 = 1460;

/// The receiver's constant window, in bytes; it needs no window scale option.
pub(crate) const WINDOW: u64 = 65_535;

/// Consecutive timeouts after which a connection is aborted.
const MAX_TIMEOUTS: u32 = 15;

const INITIAL_TIMEOUT_NS: Nanos = 20 * MILLISECOND;
const MIN_TIMEOUT_NS: Nanos = 5 * MILLISECOND;
const MAX_TIMEOUT_NS: Nanos = SECOND;
