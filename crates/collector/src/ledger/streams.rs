//! Which streams are there, and which of them wait for missing reports?

use std::ops::{Index, IndexMut};

use hashbrown::HashMap;
use inband_model::{Ledger, Nanos};

use crate::deadlines::Deadlines;

use super::settings::LedgerSettings;
use super::stream::{Stream, StreamKey};

/// The streams, at most a stated number of them.
///
/// Node ids come from the network, so a sender may make up any number of streams. When the table is full, a
/// new stream takes the place of one that has been silent for long; if there is none, it is not followed.
#[derive(Debug)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    index: HashMap<StreamKey, StreamIndex>,
    capacity: usize,
    confirmations: Deadlines<StreamIndex>,
    /// Where the stream of the last datagram stands.
    last: usize,
    hand: usize,
    past: Ledger,
    forgotten: u64,
    unfollowed: u64,
}

/// Where a stream stands in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StreamIndex(usize);

impl Streams {
    pub(super) fn new(capacity: usize) -> Streams {
        Streams {
            streams: Vec::new(),
            index: HashMap::new(),
            capacity,
            confirmations: Deadlines::new(),
            last: 0,
            hand: 0,
            past: Ledger::default(),
            forgotten: 0,
            unfollowed: 0,
        }
    }

    pub(super) fn find(&mut self, key: &StreamKey) -> Option<StreamIndex> {
        // Datagrams of one stream often come one after another.
        if self.streams.get(self.last).is_some_and(|stream| stream.key == *key) {
            return Some(StreamIndex(self.last));
        }
        let index = *self.index.get(key)?;
        self.last = index.0;
        Some(index)
    }

    /// Starts a stream with its first report; `None` when there is no room for it.
    pub(super) fn open(
        &mut self,
        settings: &LedgerSettings,
        now: Nanos,
        key: StreamKey,
        sequence: u32,
    ) -> Option<StreamIndex> {
        let place = if self.streams.len() < self.capacity {
            self.streams.len()
        } else if let Some(place) = self.longest_silent(settings, now) {
            self.forget(place);
            place
        } else {
            self.unfollowed += 1;
            return None;
        };
        let stream = Stream::new(key, settings, now, sequence);
        if place == self.streams.len() {
            self.streams.push(stream);
        } else {
            self.streams[place] = stream;
        }
        self.index.insert(key, StreamIndex(place));
        Some(StreamIndex(place))
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

    /// Takes a stream whose oldest gap may be due.
    pub(super) fn next_confirmation(&mut self, now: Nanos) -> Option<StreamIndex> {
        let index = self.confirmations.pop_due(now)?;
        self.streams[index.0].awaits_confirmation = false;
        Some(index)
    }

    pub(super) fn next_deadline(&self) -> Option<Nanos> {
        self.confirmations.next()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Stream> {
        self.streams.iter()
    }

    /// Adds what only streams count to the totals.
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

    /// Among the next few streams in turn, one that has been silent long enough to be forgotten, longest first.
    fn longest_silent(&mut self, settings: &LedgerSettings, now: Nanos) -> Option<usize> {
        let count = self.streams.len();
        let candidates = (0..CANDIDATES.min(count)).map(|step| (self.hand + step) % count);
        let oldest = candidates.min_by_key(|place| self.streams[*place].sequence.last_at())?;
        self.hand = (self.hand + CANDIDATES) % count;
        let silence = now.since(self.streams[oldest].sequence.last_at());
        (silence >= settings.forget_after()).then_some(oldest)
    }

    fn forget(&mut self, place: usize) {
        let stream = &mut self.streams[place];
        stream.sequence.give_up();
        add_stream(&mut self.past, stream);
        self.index.remove(&stream.key);
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

/// How many streams are looked at to find one to forget.
const CANDIDATES: usize = 8;
