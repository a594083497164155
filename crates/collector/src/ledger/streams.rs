//! The table of streams, and those that wait for missing reports.

use std::net::IpAddr;
use std::ops::{Index, IndexMut};

use hashbrown::HashMap;
use inband_model::{Ledger, Nanos};

use crate::deadlines::Deadlines;
use crate::detect::report_loss::LossSettings;

use super::key::StreamKey;
use super::settings::LedgerSettings;
use super::sources::Sources;
use super::stream::Stream;

/// The streams, up to a configured maximum.
///
/// Node ids come from the network, so a sender may forge any number of streams; each source address has its
/// share of the table. When it is full, a new stream replaces one that has been silent for long, or one of a
/// source address that has more of them; if there is none, the new stream is not followed.
#[derive(Debug)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    index: HashMap<StreamKey, StreamIndex>,
    capacity: usize,
    sources: Sources,
    confirmations: Deadlines<StreamIndex>,
    full_windows: Deadlines<StreamIndex>,
    /// Index of the stream of the last datagram.
    last: usize,
    hand: usize,
    past: Ledger,
    forgotten: u64,
    unfollowed: u64,
}

/// Index of a stream in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StreamIndex(usize);

/// The outcome of a new stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opened {
    /// It is followed.
    At(StreamIndex),
    /// Its source address has the maximum number of streams.
    Refused,
    /// The table is full.
    NoRoom,
}

impl Streams {
    pub(super) fn new(settings: &LedgerSettings) -> Streams {
        Streams {
            streams: Vec::new(),
            index: HashMap::new(),
            capacity: settings.max_streams,
            sources: Sources::new(settings.max_streams_per_source),
            confirmations: Deadlines::new(),
            full_windows: Deadlines::new(),
            last: 0,
            hand: 0,
            past: Ledger::default(),
            forgotten: 0,
            unfollowed: 0,
        }
    }

    pub(super) fn find(&mut self, key: &StreamKey) -> Option<StreamIndex> {
        // Datagrams of one stream often arrive in sequence.
        if self.streams.get(self.last).is_some_and(|stream| stream.key == *key) {
            return Some(StreamIndex(self.last));
        }
        let index = *self.index.get(key)?;
        self.last = index.0;
        Some(index)
    }

    /// Gives a stream another identity; `None` when there is no stream of the previous one.
    pub(super) fn rename(&mut self, from: &StreamKey, to: StreamKey) -> Option<StreamIndex> {
        let index = self.index.remove(from)?;
        self.index.insert(to, index);
        self.streams[index.0].key = to;
        self.last = index.0;
        Some(index)
    }

    /// Starts a stream with its first report.
    pub(super) fn open(
        &mut self,
        settings: &LedgerSettings,
        now: Nanos,
        key: StreamKey,
        address: IpAddr,
        sequence: u32,
    ) -> Opened {
        if !self.sources.admits(address, key.node_id) {
            return Opened::Refused;
        }
        let place = if self.streams.len() < self.capacity {
            self.streams.len()
        } else if let Some(place) = self.forgettable(settings, now, address) {
            self.forget(place);
            place
        } else {
            self.unfollowed += 1;
            return Opened::NoRoom;
        };
        let stream = Stream::new(key, address, settings, now, sequence);
        if place == self.streams.len() {
            self.streams.push(stream);
        } else {
            self.streams[place] = stream;
        }
        self.sources.add(address);
        self.index.insert(key, StreamIndex(place));
        Opened::At(StreamIndex(place))
    }

    /// Sets a deadline for the open gaps of a stream, if it has any and none is set.
    pub(super) fn await_confirmation(&mut self, index: StreamIndex, settings: &LedgerSettings) {
        let stream = &mut self.streams[index.0];
        if stream.awaits_confirmation {
            return;
        }
        if let Some(due) = stream.sequence.next_confirmation(settings) {
            stream.awaits_confirmation = true;
            self.confirmations.set(due, index);
        }
    }

    /// Returns a stream whose oldest gap may be due.
    pub(super) fn next_confirmation(&mut self, now: Nanos) -> Option<StreamIndex> {
        let index = self.confirmations.pop_due(now)?;
        self.streams[index.0].awaits_confirmation = false;
        Some(index)
    }

    /// Sets a deadline for the losses of a stream whose window is not full.
    pub(super) fn await_full_window(&mut self, index: StreamIndex, loss: &LossSettings, now: Nanos) {
        let stream = &mut self.streams[index.0];
        if stream.awaits_full_window {
            return;
        }
        if let Some(due) = stream.full_window_at(loss, now) {
            stream.awaits_full_window = true;
            self.full_windows.set(due, index);
        }
    }

    /// Returns a stream whose window may be full.
    pub(super) fn next_full_window(&mut self, now: Nanos) -> Option<StreamIndex> {
        let index = self.full_windows.pop_due(now)?;
        self.streams[index.0].awaits_full_window = false;
        Some(index)
    }

    pub(super) fn next_deadline(&self) -> Option<Nanos> {
        [self.confirmations.next(), self.full_windows.next()].into_iter().flatten().min()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Stream> {
        self.streams.iter()
    }

    /// Adds the counters that exist only per stream to the totals.
    pub(super) fn add_to(&self, total: &mut Ledger) {
        total.reordered += self.past.reordered;
        total.late += self.past.late;
        total.lost += self.past.lost;
        total.lost_unknown += self.past.lost_unknown;
        for stream in &self.streams {
            add_stream(total, stream);
        }
    }

    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    pub(super) fn unfollowed(&self) -> u64 {
        self.unfollowed
    }

    /// The source addresses and what they were refused.
    pub(super) fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The longest silent of the next few streams, taken in rotation, if its silence is long enough for an
    /// eviction; else one of a source address that has more streams than `newcomer` would have.
    fn forgettable(&mut self, settings: &LedgerSettings, now: Nanos, newcomer: IpAddr) -> Option<usize> {
        let count = self.streams.len();
        let candidates: Vec<usize> =
            (0..CANDIDATES.min(count)).map(|step| (self.hand + step) % count).collect();
        self.hand = (self.hand + CANDIDATES).checked_rem(count)?;
        let silent_since = |place: &usize| self.streams[*place].sequence.last_at();
        let oldest = candidates.iter().copied().min_by_key(silent_since)?;
        if now.since(silent_since(&oldest)) >= settings.forget_after() {
            return Some(oldest);
        }
        let share = |place: &usize| self.sources.streams_of(self.streams[*place].opened_from);
        let least = self.sources.streams_of(newcomer) + 1;
        let accepted = |place: &usize| std::cmp::Reverse(self.streams[*place].tally.accepted);
        let greedy = candidates.iter().copied().filter(|place| share(place) > least);
        greedy.max_by_key(|place| (share(place), accepted(place)))
    }

    fn forget(&mut self, place: usize) {
        let stream = &mut self.streams[place];
        stream.sequence.give_up();
        add_stream(&mut self.past, stream);
        self.index.remove(&stream.key);
        self.sources.remove(stream.opened_from);
        self.forgotten += 1;
    }
}

fn add_stream(total: &mut Ledger, stream: &Stream) {
    total.reordered += stream.tally.reordered;
    total.late += stream.tally.late;
    total.lost += stream.sequence.lost();
    total.lost_unknown += stream.sequence.lost_unknown();
}

impl Index<StreamIndex> for Streams {
    type Output = Stream;

    fn index(&self, index: StreamIndex) -> &Stream {
        &self.streams[index.0]
    }
}

impl IndexMut<StreamIndex> for Streams {
    fn index_mut(&mut self, index: StreamIndex) -> &mut Stream {
        &mut self.streams[index.0]
    }
}

/// Number of candidates for an eviction.
const CANDIDATES: usize = 8;
