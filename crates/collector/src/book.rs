//! Which events go on, which are past, and who knows of them?

mod silences;

use std::collections::VecDeque;

use hashbrown::HashMap;
use inband_model::{Acknowledgement, Event, EventId, EventKind, EventView, Nanos, Phase};

use crate::deadlines::Deadlines;
use crate::settings::EventSettings;

use self::silences::Silences;

/// The events that go on and the latest of those that are past, at most a stated number of both.
#[derive(Debug)]
pub(crate) struct Book {
    max_active: usize,
    max_past: usize,
    active: HashMap<Subject, Active>,
    past: VecDeque<EventView>,
    /// When to look whether an event has ended by itself.
    ends: Deadlines<Subject>,
    pub(crate) silences: Silences,
    untracked: u64,
}

/// How an event goes on, and how it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Course {
    /// It ends by itself when nothing more is announced of it for so long; `None`: only when its end is announced.
    pub(crate) quiet: Option<Nanos>,
    pub(crate) counts: Counts,
}

/// What the count of an announcement is, where the event goes on already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counts {
    /// What has come since the one before.
    Since,
    /// The whole count.
    All,
}

/// What an event is about.
type Subject = (EventKind, String);

/// An event that has not ended.
#[derive(Debug)]
struct Active {
    view: EventView,
    course: Course,
}

impl Course {
    /// An event that ends when its end is announced.
    pub(crate) const UNTIL_ENDED: Course = Course { quiet: None, counts: Counts::All };

    /// An event whose announcements add up, and that ends when there are none for so long.
    pub(crate) const fn until_quiet(quiet: Nanos) -> Course {
        Course { quiet: Some(quiet), counts: Counts::Since }
    }

    /// An event whose latest announcement says all, and that ends when there is none for so long.
    pub(crate) const fn renewed_within(quiet: Nanos) -> Course {
        Course { quiet: Some(quiet), counts: Counts::All }
    }
}

impl Book {
    pub(crate) fn new(settings: &EventSettings) -> Book {
        Book {
            max_active: settings.max_active,
            max_past: settings.max_past,
            silences: Silences::new(&settings.silence),
            active: HashMap::new(),
            past: VecDeque::new(),
            ends: Deadlines::new(),
            untracked: 0,
        }
    }

    /// Writes down an event that has no course.
    pub(crate) fn once(&mut self, mut event: Event) -> Event {
        event.silenced = self.silences.cover(&event);
        self.put_past(EventView { id: event.id(), event: event.clone(), acknowledged: None });
        event
    }

    /// Writes down that an event begins; `None` when it goes on already, which then goes on as announced, and from
    /// then on ends as announced now.
    pub(crate) fn begin(&mut self, mut event: Event, course: Course) -> Option<Event> {
        let subject = (event.kind(), event.key.clone());
        if let Some(active) = self.active.get_mut(&subject) {
            if active.go_on(event, course)
                && let Some(ends) = active.ends()
            {
                self.ends.set(ends, subject);
            }
            return None;
        }
        event.silenced = self.silences.cover(&event);
        if self.active.len() >= self.max_active {
            // Nobody will remember to end it.
            self.untracked += 1;
            return Some(event);
        }
        event.phase = Phase::Begin;
        if let Some(quiet) = course.quiet {
            self.ends.set(event.last + quiet, subject.clone());
        }
        let view = EventView { id: event.id(), event: event.clone(), acknowledged: None };
        self.active.insert(subject, Active { view, course });
        Some(event)
    }

    /// Writes down that an event ends.
    pub(crate) fn end(&mut self, mut event: Event) -> Event {
        let subject = (event.kind(), event.key.clone());
        let active = self.active.remove(&subject);
        event.phase = Phase::End;
        event.silenced = self.silences.cover(&event);
        let mut acknowledged = None;
        if let Some(active) = active {
            event.first = active.view.event.first;
            acknowledged = active.view.acknowledged;
        }
        self.put_past(EventView { id: event.id(), event: event.clone(), acknowledged });
        event
    }

    /// Ends an event that has nothing new to say; `None` when it does not go on.
    pub(crate) fn end_as_it_is(&mut self, kind: EventKind, key: &str, now: Nanos) -> Option<Event> {
        let active = self.active.get(&(kind, key.to_owned()))?;
        let mut event = active.view.event.clone();
        event.last = event.last.max(now);
        Some(self.end(event))
    }

    /// Takes an event that has ended by itself.
    pub(crate) fn next_ended(&mut self, now: Nanos) -> Option<Event> {
        while let Some(subject) = self.ends.pop_due(now) {
            let Some(active) = self.active.get(&subject) else { continue };
            let Some(due) = active.ends() else { continue };
            if due > now {
                self.ends.set(due, subject);
                continue;
            }
            let event = active.view.event.clone();
            return Some(self.end(event));
        }
        None
    }

    /// When an event may end by itself.
    pub(crate) fn next_timeout(&self) -> Option<Nanos> {
        self.ends.next()
    }

    /// Notes that somebody knows of an event; false where there is none by this id.
    pub(crate) fn acknowledge(&mut self, id: EventId, acknowledgement: Acknowledgement) -> bool {
        let active = self.active.values_mut().map(|active| &mut active.view);
        let found = active.chain(self.past.iter_mut().rev()).find(|view| view.id == id);
        let is_found = found.is_some();
        if let Some(view) = found {
            view.acknowledged = Some(acknowledgement);
        }
        is_found
    }

    /// The events that go on, in no order.
    pub(crate) fn active(&self) -> impl Iterator<Item = &EventView> {
        self.active.values().map(|active| &active.view)
    }

    /// The events that are past, the latest first.
    pub(crate) fn past(&self) -> impl Iterator<Item = &EventView> {
        self.past.iter().rev()
    }

    /// Events that were announced and, for want of room, are not shown as going on.
    pub(crate) fn untracked(&self) -> u64 {
        self.untracked
    }

    fn put_past(&mut self, view: EventView) {
        while self.past.len() >= self.max_past.max(1) {
            self.past.pop_front();
        }
        self.past.push_back(view);
    }
}

impl Active {
    /// When it ends by itself, if nothing more is announced of it.
    fn ends(&self) -> Option<Nanos> {
        self.course.quiet.map(|quiet| self.view.event.last + quiet)
    }

    /// Takes in what is announced of an event that has begun, and says whether it now ends sooner than it would have.
    fn go_on(&mut self, event: Event, course: Course) -> bool {
        let before = std::mem::replace(&mut self.course, course).quiet;
        let known = &mut self.view.event;
        known.detail = event.detail;
        known.severity = known.severity.max(event.severity);
        known.confidence = known.confidence.max(event.confidence);
        known.last = known.last.max(event.last);
        known.count = match self.course.counts {
            Counts::Since => known.count.saturating_add(event.count),
            Counts::All => event.count,
        };
        for report in event.evidence {
            if known.evidence.contains(&report) {
                continue;
            }
            if known.evidence.len() >= MOST_EVIDENCE {
                // The first ones show how it began.
                known.evidence.remove(MOST_EVIDENCE / 2);
            }
            known.evidence.push(report);
        }
        course.quiet.is_some_and(|quiet| before.is_none_or(|before| quiet < before))
    }
}

/// Most reports that are named for one event: half of them the first ones, half the latest.
const MOST_EVIDENCE: usize = 8;

#[cfg(test)]
mod tests;
