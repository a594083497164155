//! A link with delay and loss: a relay of frames between two devices.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use inband_linux::device;
use inband_linux::namespace::Namespace;
use inband_linux::netlink::Netlink;
use serde::{Deserialize, Serialize};

use crate::sys::{self, FrameSocket};

/// A link with delay or loss.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinkSettings {
    /// The names of its ends.
    pub names: [String; 2],
    /// The devices that frames are relayed between.
    pub devices: [String; 2],
    /// The delay of each frame, nanoseconds.
    pub delay_ns: u64,
    /// The share of frames that are lost.
    pub loss: f64,
}

/// The measurements of one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Direction {
    /// Frames that arrived.
    pub received: u64,
    /// Frames that were sent on.
    pub sent: u64,
    /// Frames dropped as configured.
    pub lost: u64,
    /// Frames dropped for want of room.
    pub overflowed: u64,
    /// Frames that the other device refused.
    pub refused: u64,
    /// The median of how much later than the delay frames were sent, nanoseconds; `None`: no frames.
    pub own_latency_p50_ns: Option<u64>,
    /// The 99th percentile of the same.
    pub own_latency_p99_ns: Option<u64>,
    /// The maximum of the same.
    pub own_latency_max_ns: Option<u64>,
}

/// A running relay.
#[derive(Debug)]
pub(super) struct Relay {
    names: [String; 2],
    counters: Arc<[Counters; 2]>,
}

/// The counters of one direction.
#[derive(Debug)]
struct Counters {
    received: AtomicU64,
    sent: AtomicU64,
    lost: AtomicU64,
    overflowed: AtomicU64,
    refused: AtomicU64,
    latest: AtomicU64,
    /// Frames by lateness: four buckets for each power of two of nanoseconds.
    late: [AtomicU64; BUCKETS],
}

/// A pending frame.
struct Waiting {
    due: Duration,
    frame: Box<[u8]>,
}

/// Starts a thread that relays the frames of a link.
pub(super) fn start(namespace: &str, link: &LinkSettings) -> io::Result<Relay> {
    let open = || -> io::Result<[FrameSocket; 2]> {
        let mut netlink = Netlink::open()?;
        let mut socket = |name: &str| {
            let missing = || io::Error::new(io::ErrorKind::NotFound, format!("no device {name}"));
            FrameSocket::open(device::find(&mut netlink, name)?.ok_or_else(missing)?.index)
        };
        Ok([socket(&link.devices[0])?, socket(&link.devices[1])?])
    };
    let sockets = Namespace::open(namespace)?.inside(open)??;
    let counters = Arc::new([Counters::new(), Counters::new()]);
    let (shared, link_settings) = (Arc::clone(&counters), link.clone());
    std::thread::Builder::new()
        .name(format!("link {}", link.devices[0]))
        .spawn(move || carry(&sockets, &link_settings, &shared))?;
    Ok(Relay { names: link.names.clone(), counters })
}

/// Relays frames both ways, each after its delay.
fn carry(sockets: &[FrameSocket; 2], link: &LinkSettings, counters: &[Counters; 2]) {
    sys::wake_in_time();
    let delay = Duration::from_nanos(link.delay_ns);
    let mut queues = [VecDeque::<Waiting>::new(), VecDeque::new()];
    let mut waiting_bytes = 0;
    let mut dice = Dice(sys::now().subsec_nanos().into());
    let mut buffer = vec![0; MAX_FRAME];
    loop {
        let mut is_idle = true;
        for from in [0, 1] {
            let (counters, queue) = (&counters[from], &mut queues[from]);
            for _ in 0..BATCH {
                // A device that is down has no frames; it may come up again.
                let Ok(Some((length, arrived))) = sockets[from].receive(&mut buffer) else { break };
                is_idle = false;
                counters.received.fetch_add(1, Ordering::Relaxed);
                if dice.draw() < link.loss {
                    counters.lost.fetch_add(1, Ordering::Relaxed);
                } else if waiting_bytes + length > MAX_WAITING_BYTES {
                    counters.overflowed.fetch_add(1, Ordering::Relaxed);
                } else {
                    waiting_bytes += length;
                    queue.push_back(Waiting { due: arrived + delay, frame: buffer[..length].into() });
                }
            }
            let now = sys::now();
            while let Some(next) = queue.front().filter(|next| next.due <= now) {
                let taken = sockets[1 - from].send(&next.frame);
                waiting_bytes -= next.frame.len();
                let late = sys::now().saturating_sub(next.due);
                counters.count(taken, late);
                queue.pop_front();
                is_idle = false;
            }
        }
        if is_idle {
            let due = queues.iter().filter_map(|queue| queue.front()).map(|next| next.due).min();
            let patience = due.map_or(IDLE, |due| due.saturating_sub(sys::now()));
            sys::wait([&sockets[0], &sockets[1]], patience.min(IDLE));
        }
    }
}

impl Relay {
    /// The measurements so far, both ways.
    pub(super) fn measured(&self) -> [(String, Direction); 2] {
        [0, 1].map(|from| {
            let name = format!("{}>{}", self.names[from], self.names[1 - from]);
            (name, self.counters[from].read())
        })
    }
}

impl Counters {
    fn new() -> Self {
        let [received, sent, lost, overflowed, refused, latest] = std::array::from_fn(|_| AtomicU64::new(0));
        Self {
            received,
            sent,
            lost,
            overflowed,
            refused,
            latest,
            late: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    fn count(&self, taken: bool, late: Duration) {
        if !taken {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.sent.fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
        self.latest.fetch_max(nanoseconds, Ordering::Relaxed);
        if let Some(bucket) = self.late.get(bucket(nanoseconds)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn read(&self) -> Direction {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let latest = count(&self.latest);
        let buckets: Vec<u64> = self.late.iter().map(count).collect();
        let all: u64 = buckets.iter().sum();
        let quantile = |percent: u64| {
            let wanted = (all * percent).div_ceil(100).max(1);
            let mut seen = 0;
            let found = buckets.iter().position(|frames| {
                seen += frames;
                seen >= wanted
            });
            found.map(|bucket| end(bucket).min(latest))
        };
        Direction {
            received: count(&self.received),
            sent: count(&self.sent),
            lost: count(&self.lost),
            overflowed: count(&self.overflowed),
            refused: count(&self.refused),
            own_latency_p50_ns: quantile(50),
            own_latency_p99_ns: quantile(99),
            own_latency_max_ns: (all > 0).then_some(latest),
        }
    }
}

/// The bucket of a number: the power of two below it, and the quarter of the interval to the next.
fn bucket(number: u64) -> usize {
    let number = number.max(4);
    let power = number.ilog2();
    let quarter = (number >> (power - 2)) & 3;
    usize::try_from(u64::from(power - 2) * 4 + quarter).unwrap_or(BUCKETS).min(BUCKETS - 1)
}

/// The first number above a bucket.
fn end(bucket: usize) -> u64 {
    let bucket = u64::try_from(bucket).unwrap_or(0);
    (5 + bucket % 4) << (bucket / 4)
}

/// A generator of pseudorandom numbers.
struct Dice(u64);

impl Dice {
    /// A number in the range from 0 to below 1.
    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let high = u32::try_from((bits ^ (bits >> 31)) >> 32).unwrap_or(0);
        f64::from(high) / (f64::from(u32::MAX) + 1.0)
    }
}

/// Maximum length of a frame, bytes.
const MAX_FRAME: usize = 1 << 16;
/// Maximum bytes pending in a link, both ways together.
const MAX_WAITING_BYTES: usize = 64 << 20;
/// Maximum frames received before those that are due are sent.
const BATCH: usize = 64;
/// Maximum time between two polls.
const IDLE: Duration = Duration::from_millis(100);
/// Up to 2^40 nanoseconds, 18 minutes.
const BUCKETS: usize = 160;

#[cfg(test)]
mod tests {
    use super::{BUCKETS, Counters, Dice, bucket, end};
    use std::time::Duration;

    #[test]
    fn a_bucket_ends_where_the_next_begins() {
        for number in [4, 5, 7, 8, 9, 1000, 50_000, 1 << 39] {
            let place = bucket(number);
            assert!(end(place) > number && bucket(end(place)) == place + 1, "{number}");
        }
        assert_eq!((bucket(0), bucket(u64::MAX)), (0, BUCKETS - 1));
    }

    #[test]
    fn own_latency_is_known_to_a_quarter() {
        let counters = Counters::new();
        assert_eq!(counters.read().own_latency_p50_ns, None);
        for microseconds in 1..=100 {
            counters.count(true, Duration::from_micros(microseconds));
        }
        counters.count(false, Duration::from_secs(1));
        let read = counters.read();
        assert_eq!((read.sent, read.refused, read.own_latency_max_ns), (100, 1, Some(100_000)));
        assert!((50_000..63_000).contains(&read.own_latency_p50_ns.unwrap()), "{read:?}");
        assert!((99_000..=100_000).contains(&read.own_latency_p99_ns.unwrap()), "{read:?}");
    }

    #[test]
    fn losses_are_as_many_as_asked_for() {
        let mut dice = Dice(1);
        let lost = (0..100_000).filter(|_| dice.draw() < 0.1).count();
        assert!((9_500..10_500).contains(&lost), "{lost}");
        assert_eq!((0..1000).filter(|_| dice.draw() < 0.0).count(), 0);
        assert_eq!((0..1000).filter(|_| dice.draw() < 1.0).count(), 1000);
    }
}
