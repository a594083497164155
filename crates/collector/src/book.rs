//! The active and past events, with their acknowledgements and silences.

mod course;
mod silences;
mod untracked;

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;
use inband_model::{Acknowledgement, EndReason, Event, EventId, EventKind, EventView, Nanos, Phase, Silence};

use crate::deadlines::Deadlines;
use crate::timeline::Timeline;

use self::course::{Counts, Unannounced};
pub(crate) use self::course::{Course, MIN_QUIET, Signs};
use self::silences::Silences;
use self::untracked::Untracked;

/// The active events and the latest past ones, each up to a bound.
///
/// Events arrive with the collector's time; they are stored and returned with the time of day.
#[derive(Debug)]
pub(crate) struct Book {
    max_active: usize,
    max_past: usize,
    active: HashMap<Subject, Active>,
    past: VecDeque<EventView>,
    /// When to check whether an event has ended by itself.
    ends: Deadlines<Subject>,
    pub(crate) silences: Silences,
    pub(crate) timeline: Timeline,
    untracked: Untracked,
    /// When the unannounced signs of all events were last added to them.
    counted_at: Nanos,
}

/// What an event is about.
type Subject = (EventKind, String);

/// An event that has not ended.
#[derive(Debug)]
struct Active {
    view: EventView,
    /// Time of its last sign, on the collector's clock.
    last: Nanos,
    course: Course,
    /// Signs that are counted and not announced; `None`: all are announced.
    unannounced: Option<Arc<Unannounced>>,
    /// Whether its cause is over and only its quiet time remains.
    is_over: bool,
}

impl Book {
    pub(crate) fn new(max_active: usize, max_past: usize, silences: &[Silence]) -> Self {
        Self {
            max_active,
            max_past,
            silences: Silences::new(silences),
            timeline: Timeline::default(),
            active: HashMap::new(),
            past: VecDeque::new(),
            ends: Deadlines::new(),
            untracked: Untracked::default(),
            counted_at: Nanos::ZERO,
        }
    }

    /// Records an event that has no course.
    pub(crate) fn once(&mut self, event: Event) -> Event {
        let mut event = self.timeline.event(event);
        event.silenced = self.silences.cover(&event);
        self.put_past(EventView { id: event.id(), event: event.clone(), acknowledged: None });
        event
    }

    /// Records that an event begins. If it is already active, it is updated, takes the new course, and `None`
    /// is returned.
    pub(crate) fn begin(&mut self, event: Event, course: Course) -> Option<Event> {
        self.begin_with(event, course, None)
    }

    /// Records that an event begins or goes on, whose further signs are counted by `signs`, and only some of
    /// them announced.
    pub(crate) fn begin_counting(
        &mut self,
        event: Event,
        course: Course,
        signs: &mut Signs,
    ) -> Option<Event> {
        self.begin_with(event, course, Some(signs.unannounced()))
    }

    fn begin_with(
        &mut self,
        event: Event,
        course: Course,
        unannounced: Option<Arc<Unannounced>>,
    ) -> Option<Event> {
        let (subject, last) = ((event.kind(), event.key.clone()), event.last);
        let mut event = self.timeline.event(event);
        if let Some(active) = self.active.get_mut(&subject) {
            active.count_unannounced(&self.timeline);
            active.unannounced = unannounced.or(active.unannounced.take());
            if active.go_on(event, last, course, &self.timeline)
                && let Some(ends) = active.ends()
            {
                self.ends.set(ends, subject);
            }
            return None;
        }
        event.silenced = self.silences.cover(&event);
        if self.active.len() >= self.max_active {
            // Not tracked, so its end is never announced.
            return self.untracked.is_announced(&subject, last).then_some(event);
        }
        event.phase = Phase::Begin;
        if let Some(quiet) = course.quiet {
            self.ends.set(last + quiet, subject.clone());
        }
        let view = EventView { id: event.id(), event: event.clone(), acknowledged: None };
        self.active.insert(subject, Active { view, last, course, unannounced, is_over: false });
        Some(event)
    }

    /// Records that an event ends, for a reason.
    pub(crate) fn end(&mut self, event: Event, reason: EndReason) -> Event {
        let event = self.timeline.event(event);
        self.end_for(reason, event)
    }

    /// Records the end of all active events, because the collector ends.
    pub(crate) fn end_run(&mut self, now: Nanos) -> Vec<Event> {
        for active in self.active.values_mut() {
            active.count_unannounced(&self.timeline);
            active.sign(now, &self.timeline);
        }
        let mut events: Vec<Event> = self.active.values().map(|active| active.view.event.clone()).collect();
        events.sort_by(|a, b| (a.first, a.kind(), &a.key).cmp(&(b.first, b.kind(), &b.key)));
        events.into_iter().map(|event| self.end_for(EndReason::RunEnded, event)).collect()
    }

    /// Ends an event whose times are times of day.
    fn end_for(&mut self, reason: EndReason, mut event: Event) -> Event {
        let subject = (event.kind(), event.key.clone());
        let active = self.active.remove(&subject);
        event.phase = Phase::End;
        event.end_reason = Some(reason);
        event.silenced = self.silences.cover(&event);
        let mut acknowledged = None;
        if let Some(active) = active {
            event.first = active.view.event.first;
            acknowledged = active.view.acknowledged;
        }
        self.put_past(EventView { id: event.id(), event: event.clone(), acknowledged });
        event
    }

    /// Records that the cause of an event is over: the event ends unless another sign of it follows soon.
    pub(crate) fn calm(&mut self, kind: EventKind, key: &str, now: Nanos) {
        let subject = (kind, key.to_owned());
        let Some(active) = self.active.get_mut(&subject) else { return };
        active.course.quiet = Some(MIN_QUIET);
        active.is_over = true;
        active.sign(now, &self.timeline);
        self.ends.set(active.last + MIN_QUIET, subject);
    }

    /// Whether an event is active.
    pub(crate) fn is_active(&self, kind: EventKind, key: &str) -> bool {
        self.active.contains_key(&(kind, key.to_owned()))
    }

    /// The count of an event so far; 0 when it is not active.
    pub(crate) fn active_count(&self, kind: EventKind, key: &str) -> u64 {
        self.active.get(&(kind, key.to_owned())).map_or(0, |active| active.view.event.count)
    }

    /// The next event that has ended by itself at `now`.
    pub(crate) fn next_ended(&mut self, now: Nanos) -> Option<Event> {
        while let Some(subject) = self.ends.pop_due(now) {
            let Some(active) = self.active.get_mut(&subject) else { continue };
            active.count_unannounced(&self.timeline);
            let Some(due) = active.ends() else { continue };
            if due > now {
                self.ends.set(due, subject);
                continue;
            }
            let reason = if active.is_over { EndReason::Over } else { EndReason::Quiet };
            let event = active.view.event.clone();
            return Some(self.end_for(reason, event));
        }
        None
    }

    /// Adds the unannounced signs to their events, at most once a second: this visits all active events.
    pub(crate) fn count_unannounced(&mut self, now: Nanos) {
        if now.since(self.counted_at) < COUNTED_EVERY {
            return;
        }
        self.counted_at = now;
        for active in self.active.values_mut() {
            active.count_unannounced(&self.timeline);
        }
    }

    /// When an event may end by itself.
    pub(crate) fn next_timeout(&self) -> Option<Nanos> {
        self.ends.next()
    }

    /// Records that an event is acknowledged; false when no event has this id.
    pub(crate) fn acknowledge(&mut self, id: EventId, acknowledgement: Acknowledgement) -> bool {
        let active = self.active.values_mut().map(|active| &mut active.view);
        let found = active.chain(self.past.iter_mut().rev()).find(|view| view.id == id);
        let is_found = found.is_some();
        if let Some(view) = found {
            view.acknowledged = Some(acknowledgement);
        }
        is_found
    }

    /// The active events, in no order.
    pub(crate) fn active(&self) -> impl Iterator<Item = &EventView> {
        self.active.values().map(|active| &active.view)
    }

    /// The past events, latest first.
    pub(crate) fn past(&self) -> impl Iterator<Item = &EventView> {
        self.past.iter().rev()
    }

    /// Events that were announced but are not tracked as active, for lack of room.
    pub(crate) fn untracked(&self) -> u64 {
        self.untracked.count()
    }

    fn put_past(&mut self, view: EventView) {
        while self.past.len() >= self.max_past.max(1) {
            self.past.pop_front();
        }
        self.past.push_back(view);
    }
}

impl Active {
    /// When it ends if no further sign is announced.
    fn ends(&self) -> Option<Nanos> {
        self.course.quiet.map(|quiet| self.last + quiet)
    }

    /// Records a sign of it at a time of the collector.
    fn sign(&mut self, at: Nanos, timeline: &Timeline) {
        self.last = self.last.max(at);
        self.view.event.last = timeline.time_of_day(self.last);
    }

    /// Adds the signs that were counted and not announced.
    fn count_unannounced(&mut self, timeline: &Timeline) {
        if let Some((count, last)) = self.unannounced.as_ref().and_then(|signs| signs.take()) {
            self.view.event.count = self.view.event.count.saturating_add(count);
            self.sign(last, timeline);
        }
    }

    /// Merges an announcement, whose times are times of day and whose last sign was at `last` on the
    /// collector's clock; returns whether the event ends sooner than it would have.
    fn go_on(&mut self, event: Event, last: Nanos, course: Course, timeline: &Timeline) -> bool {
        self.sign(last, timeline);
        let before = std::mem::replace(&mut self.course, course).quiet;
        self.is_over = false;
        let known = &mut self.view.event;
        known.detail = event.detail;
        known.severity = known.severity.max(event.severity);
        known.confidence = known.confidence.max(event.confidence);
        known.count = match self.course.counts {
            Counts::Since => known.count.saturating_add(event.count),
            Counts::All => event.count,
        };
        for report in event.evidence {
            if known.evidence.contains(&report) {
                continue;
            }
            if known.evidence.len() >= MAX_EVIDENCE {
                // The first ones are kept: they show how it began.
                known.evidence.remove(MAX_EVIDENCE / 2);
            }
            known.evidence.push(report);
        }
        course.quiet.is_some_and(|quiet| before.is_none_or(|before| quiet < before))
    }
}

/// How often unannounced signs are added to the events that are shown.
const COUNTED_EVERY: Nanos = Nanos::from_secs(1);
/// Maximum number of reports cited by one event: half of them the first, half the latest.
const MAX_EVIDENCE: usize = 8;

#[cfg(test)]
mod tests;
