//! Delivery to a broker that may be unreachable for hours.
//!
//! One thread moves messages from the queue to the spool; another reads the spool, passes batches to the
//! broker and removes the messages that the broker has acknowledged. Each message is delivered at least once,
//! and in order; its id lets the other side drop duplicates.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use inband_model::Names;
use inband_store::is_shortage;

use super::answer::Answer;
use super::delivery::{self, Export, Work};
use super::error::ExportError;
use super::message::{Message, Topic, Topics};
use super::queue::{Ending, Next};
use super::spool::{Entry, Recovered, Spool};
use super::tally::{Failure, Tally};

/// The connection to a broker.
pub(super) trait Broker: Send + 'static {
    /// Delivers as much of a batch as it can within `left`.
    fn deliver(&mut self, batch: &[Parcel], left: Duration) -> Delivery;

    /// Called repeatedly while there is nothing to deliver.
    fn handle_silence(&mut self) {}
}

/// A message to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parcel {
    /// The id by which the other side recognizes duplicates.
    pub(super) id: String,
    pub(super) topic: Topic,
    /// What it belongs to: flow, key or node.
    pub(super) key: String,
    /// The JSON object.
    pub(super) body: Vec<u8>,
}

/// The result of delivering a batch.
#[derive(Debug)]
pub(super) struct Delivery {
    /// Leading messages of the batch that were acknowledged.
    pub(super) acknowledged: usize,
    /// The answer to the message after those.
    pub(super) next: Answer,
    /// Whether later messages may have arrived too, with their acknowledgement pending or lost.
    pub(super) may_have_more: bool,
}

/// The settings that all brokers share.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    pub(super) what: &'a [Topic],
    pub(super) queue: u64,
    pub(super) spool: &'a Path,
    pub(super) spool_bytes: u64,
    pub(super) names: &'a Arc<Names>,
}

/// The spool between the two threads.
struct Shared {
    spool: Mutex<Spool>,
    /// Something was appended, or the spool is closed.
    news: Condvar,
    /// No more messages will be appended.
    is_closed: AtomicBool,
    /// Since when the oldest messages cannot be read.
    unread_since: Mutex<Option<Instant>>,
    tally: Arc<Tally>,
    ending: Arc<Ending>,
}

/// Opens the spool and starts delivering.
pub(super) fn start(
    wanted: &Wanted<'_>,
    broker: impl Broker,
    tally: Arc<Tally>,
) -> Result<Export<Topics>, ExportError> {
    let failed = |source| {
        let path = wanted.spool.to_owned();
        ExportError::Write { output: tally.output().to_owned(), path, source }
    };
    let (spool, recovered) = Spool::open(wanted.spool, wanted.spool_bytes).map_err(failed)?;
    tally.count_offered(recovered.messages + recovered.lost);
    tally.count_failed(Failure::Disk, recovered.lost);
    if recovered.torn_bytes > 0 || recovered.unknown > 0 {
        let Recovered { torn_bytes, lost, unknown, .. } = recovered;
        tally.note_answer(&Answer::Refused(format!(
            "of the spool, {torn_bytes} damaged bytes with at least {lost} messages are left out, \
             {unknown} files of another version set aside"
        )));
    }
    tally.note_spool(spool.waiting_bytes());
    tally.keep();
    let names = Arc::clone(wanted.names);
    let work = move |work| run(spool, broker, &names, work);
    delivery::start(Topics::new(wanted.what), wanted.queue, tally, work)
}

/// Runs the thread that appends.
fn run(spool: Spool, broker: impl Broker, names: &Names, work: Work<Message>) {
    let Work { outlet, tally, ending } = work;
    let shared = Arc::new(Shared {
        spool: Mutex::new(spool),
        news: Condvar::new(),
        is_closed: AtomicBool::new(false),
        unread_since: Mutex::default(),
        tally,
        ending,
    });
    let sender = Builder::new().name(format!("{} sends", shared.tally.output())).spawn({
        let shared = Arc::clone(&shared);
        move || shared.send(broker)
    });
    loop {
        let mut next = outlet.next(PATIENCE);
        let (mut payloads, mut bytes) = (Vec::new(), 0);
        while let Next::Item(message) = next {
            let topic = message.topic();
            message.each_json(names, |key, json| {
                bytes += json.len();
                payloads.push(encode(topic, key, json));
            });
            next = if bytes < MAX_BYTES { outlet.next(Duration::ZERO) } else { Next::Nothing };
        }
        shared.append(&payloads);
        if matches!(next, Next::End) {
            break;
        }
    }
    shared.is_closed.store(true, Ordering::Release);
    shared.news.notify_all();
    if let Ok(sender) = sender {
        let _ = sender.join();
    }
    // Messages that are left are delivered after the next start, if it finds them.
    let mut spool = shared.spool();
    if spool.is_removed() {
        shared.tally.count_failed(Failure::Disk, spool.waiting());
    }
    let _ = spool.sync();
}

impl Shared {
    fn spool(&self) -> MutexGuard<'_, Spool> {
        self.spool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&self, payloads: &[Vec<u8>]) {
        if payloads.is_empty() {
            return;
        }
        if self.tally.is_waited_for() {
            let mut left = payloads;
            while !left.is_empty() {
                let (now, later) = left.split_at(self.spool().portion(left));
                // If the broker is unreachable, the oldest messages make room.
                let _ = self.tally.wait_until(|| self.spool().has_room(now));
                self.append_now(now);
                left = later;
            }
        } else {
            self.append_now(payloads);
        }
    }

    fn append_now(&self, payloads: &[Vec<u8>]) {
        let mut spool = self.spool();
        let appended = spool.append(payloads);
        let (refused, reason) = match appended.error {
            None => (appended.refused, Failure::SpoolFull),
            Some(_) => (appended.refused, Failure::Disk),
        };
        self.tally.count_failed(Failure::SpoolFull, appended.dropped);
        self.tally.count_failed(reason, refused);
        let answer = match appended.error {
            None if spool.is_removed() => {
                Answer::Refused("its directory is gone: messages that wait at the end are lost".to_owned())
            }
            None => Answer::Taken,
            Some(error) => Answer::Refused(format!("cannot write: {error}")),
        };
        // Beside what the broker says.
        self.tally.note_part("spool", &answer);
        self.tally.note_spool(spool.waiting_bytes());
        self.news.notify_all();
    }

    /// Runs the thread that sends.
    fn send(&self, mut broker: impl Broker) {
        let mut pause = FIRST_PAUSE;
        loop {
            let batch = match self.next_batch() {
                Next::Item(batch) => batch,
                Next::Nothing => {
                    broker.handle_silence();
                    continue;
                }
                Next::End => return,
            };
            let left = self.ending.left();
            let delivery = broker.deliver(&batch.parcels, left.unwrap_or(MAX_DELIVERY));
            self.tally.note_answer(&delivery.next);
            let acknowledged = delivery.acknowledged as u64;
            self.remove(batch.first + acknowledged, None);
            // Messages that may have arrived are not evicted: they would count as lost.
            self.spool().hold(delivery.may_have_more);
            match delivery.next {
                Answer::Refused(_) | Answer::TakenInPart { .. } => {
                    self.remove(batch.first + acknowledged + 1, Some(Failure::Refused));
                }
                Answer::Away { .. } if left.is_some() => return,
                Answer::Away { .. } => {
                    pause = if acknowledged > 0 { FIRST_PAUSE } else { pause };
                    self.ending.pause(pause);
                    self.tally.count_retry();
                    pause = (pause * 2).min(MAX_PAUSE);
                }
                Answer::Taken => pause = FIRST_PAUSE,
            }
        }
    }

    /// The oldest messages; `End` when no more will come or the deadline has passed.
    fn next_batch(&self) -> Next<Batch> {
        let mut spool = self.spool();
        loop {
            let is_closed = self.is_closed.load(Ordering::Acquire);
            match spool.read(MAX_AT_ONCE) {
                _ if self.ending.left().is_some_and(|left| left.is_zero()) => return Next::End,
                Ok(entries) if entries.is_empty() && is_closed => return Next::End,
                Ok(entries) if entries.is_empty() => {
                    let woken = self.news.wait_timeout(spool, PATIENCE);
                    let (back, waited) = woken.unwrap_or_else(PoisonError::into_inner);
                    if waited.timed_out() {
                        return Next::Nothing;
                    }
                    spool = back;
                }
                Ok(entries) => match Batch::of(&spool.id(), &entries) {
                    Some(batch) => {
                        self.note_read();
                        spool.hold(true);
                        return Next::Item(batch);
                    }
                    None => {
                        spool.deliver(entries[0].number);
                        self.tally.count_failed(Failure::Disk, 1);
                    }
                },
                Err(error) if !is_lost(&error) && self.may_be_read_later(&error) => {
                    // The file may be intact: too many may be open, or a disk may not answer.
                    drop(spool);
                    let why = format!("cannot read the spool: {error}");
                    self.tally.note_answer(&Answer::Away { why, again: None });
                    thread::sleep(PATIENCE);
                    return Next::Nothing;
                }
                Err(error) => {
                    self.note_read();
                    spool.hold(false);
                    let lost = spool.skip();
                    self.tally.count_failed(Failure::Disk, lost);
                    self.tally.note_answer(&Answer::Refused(format!("cannot read the spool: {error}")));
                }
            }
        }
    }

    /// Whether messages that cannot be read now may be later: for as long as there are too few descriptors or
    /// too little memory, and otherwise for a while.
    fn may_be_read_later(&self, error: &io::Error) -> bool {
        let mut since = self.unread_since.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = since.get_or_insert_with(Instant::now).elapsed();
        is_shortage(error) || elapsed < UNREAD_FOR
    }

    fn note_read(&self) {
        *self.unread_since.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Removes all messages below this number from the spool; counts them as exported, or as failed.
    fn remove(&self, below: u64, failure: Option<Failure>) {
        let Some(through) = below.checked_sub(1) else { return };
        let mut spool = self.spool();
        let messages = spool.deliver(through);
        match failure {
            None => self.tally.count_exported(messages),
            Some(failure) => self.tally.count_failed(failure, messages),
        }
        self.tally.note_spool(spool.waiting_bytes());
    }
}

/// Whether an error of reading a file means that what it had cannot be read later either.
fn is_lost(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof | ErrorKind::NotFound)
}

/// Consecutive messages.
struct Batch {
    /// Number of the first message.
    first: u64,
    parcels: Vec<Parcel>,
}

impl Batch {
    /// The messages of these entries, up to the first that cannot be decoded; `None` if that is the first
    /// entry.
    fn of(spool: &str, entries: &[Entry]) -> Option<Batch> {
        let parcels = entries.iter().map_while(|entry| decode(spool, entry)).collect::<Vec<_>>();
        Some(Batch { first: entries.first()?.number, parcels }).filter(|batch| !batch.parcels.is_empty())
    }
}

/// Encodes a message for the spool: topic, length of the key, key, body.
fn encode(topic: Topic, key: &str, body: &[u8]) -> Vec<u8> {
    let end = (0..=key.len().min(MAX_KEY_BYTES)).rev().find(|end| key.is_char_boundary(*end)).unwrap_or(0);
    let key = &key.as_bytes()[..end];
    let length = u16::try_from(key.len()).unwrap_or(0).to_le_bytes();
    [&[topic as u8][..], &length, key, body].concat()
}

fn decode(spool: &str, entry: &Entry) -> Option<Parcel> {
    let ([topic], rest) = entry.payload.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (key, body) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
    Some(Parcel {
        id: format!("{spool}-{}", entry.number),
        topic: *Topic::ALL.get(usize::from(*topic))?,
        key: str::from_utf8(key).ok()?.to_owned(),
        body: body.to_owned(),
    })
}

/// Maximum length of a key, bytes; longer keys are truncated.
const MAX_KEY_BYTES: usize = 1_024;
/// How long a thread waits for messages before it checks again.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long messages are kept that a disk does not give back.
const UNREAD_FOR: Duration = Duration::from_secs(60);
/// Bytes that are appended at once, about.
const MAX_BYTES: usize = 1 << 20;
/// Messages per batch.
pub(super) const MAX_AT_ONCE: usize = 512;
/// Longest time for a batch.
const MAX_DELIVERY: Duration = Duration::from_secs(10);
/// Pause after the first failed attempt, and the longest pause.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
