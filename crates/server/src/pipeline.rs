//! The pipeline: from received datagrams through the collector to the stages.

mod asked;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;

use inband_collector::{Collector, CollectorSettings, Output};
use inband_export::{LEDGER_EVERY, Stage};
use inband_model::{Event, HopColumns, LedgerView, Nanos};

pub use self::asked::{Asker, ClockView, ProcessorTime, Sight, Unanswered};

use self::asked::{LastQuestions, Question};
use crate::capture_clock::CaptureClock;
use crate::clock::Clock;
use crate::evidence::Evidence;
use crate::processor_time::processor_time;
use crate::receive::{Batch, Feed, ReceptionCounts};
use crate::recent::Recent;

/// The thread that processes reports: it owns the collector, passes its output to the stages, and answers
/// queries in between.
#[derive(Debug)]
pub struct Pipeline {
    stop: Arc<AtomicBool>,
    asker: Asker,
    thread: JoinHandle<Outcome>,
}

/// What is left after the last datagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The final ledger.
    pub ledger: LedgerView,
}

/// The source of time.
#[derive(Debug)]
enum Time {
    /// The clock that stamps datagrams.
    OfClock {
        clock: Clock,
        /// Steps of the system time that the collector has received.
        steps: usize,
        /// No datagram that was stamped earlier waits. Timers do not run ahead of it: they would expire
        /// before the datagrams that prevent it.
        reached: Nanos,
    },
    /// The clock of a capture being replayed.
    OfCapture(CaptureClock),
}

/// The state of the thread.
struct Work {
    feed: Feed,
    collector: Collector,
    stages: Vec<Box<dyn Stage>>,
    questions: Receiver<Question>,
    last_questions: LastQuestions,
    stop: Arc<AtomicBool>,
    time: Time,
    past: ReceptionCounts,
    /// The newest datagrams, and the evidence found in them.
    evidence: Evidence,
    /// By how much the system time was last set forward.
    step_ns: i64,
    /// Processor time spent on queries.
    asked: Duration,
    /// Hops for the stages; empty in between, and stored here to reuse their memory.
    hops: HopColumns,
    ledger_at: Nanos,
    history_at: Nanos,
}

impl Pipeline {
    /// Starts processing the datagrams of `feed`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(
        settings: CollectorSettings,
        feed: Feed,
        stages: Vec<Box<dyn Stage>>,
    ) -> io::Result<Pipeline> {
        let (sender, questions) = sync_channel(MAX_QUESTIONS);
        let last_questions = LastQuestions::default();
        let asker = Asker::new(sender, last_questions.clone(), feed.waker());
        let stop = Arc::new(AtomicBool::new(false));
        let time = feed.clock().map_or(Time::OfCapture(CaptureClock::default()), |clock| Time::OfClock {
            // Datagrams may have waited since then.
            reached: clock.started_at(),
            clock,
            steps: 0,
        });
        let mut collector = Collector::new(settings);
        if stages.iter().any(|stage| stage.wants_hops()) {
            collector = collector.with_records();
        }
        let evidence = Evidence::new(Recent::new(feed.recent_bytes()));
        let work = Work {
            feed,
            collector,
            stages,
            questions,
            last_questions,
            stop: Arc::clone(&stop),
            time,
            past: ReceptionCounts::default(),
            evidence,
            step_ns: 0,
            asked: Duration::ZERO,
            hops: HopColumns::default(),
            ledger_at: Nanos::ZERO,
            history_at: Nanos::ZERO,
        };
        let thread = Builder::new().name("understand".to_owned()).spawn(move || work.run())?;
        Ok(Pipeline { stop, asker, thread })
    }

    /// The handle for queries, from any thread.
    #[must_use]
    pub fn asker(&self) -> Asker {
        self.asker.clone()
    }

    /// Whether the thread has ended: a capture was read to its end, or it failed.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Processes what has been received, and returns the rest; `None` if the thread failed before.
    #[must_use]
    pub fn stop(self) -> Option<Outcome> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().ok()
    }
}

impl Work {
    fn run(mut self) -> Outcome {
        loop {
            match self.feed.next(PATIENCE) {
                Ok(batch) => self.handle_batch(batch),
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => break,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.take_counts();
            self.let_time_pass();
            self.answer();
        }
        self.take_counts();
        self.finish();
        Outcome { ledger: self.ledger() }
    }

    fn handle_batch(&mut self, batch: Batch) {
        let now = self.reach(batch.received_at);
        for (from, datagram) in batch.iter() {
            self.collector.handle_datagram(now, from, batch.session, datagram);
            if self.collector.waiting_hops() >= MAX_HOPS {
                self.give_hops();
            }
        }
        let arrived_at = self.collector.time_of_day(now);
        self.evidence.recent.keep(arrived_at, batch);
    }

    /// The collector's time for a datagram that was stamped at a time.
    fn reach(&mut self, stamped_at: Nanos) -> Nanos {
        match &mut self.time {
            Time::OfClock { reached, .. } => {
                *reached = stamped_at.max(*reached);
                self.follow_clock();
                stamped_at
            }
            Time::OfCapture(clock) => {
                let ahead = clock.take(stamped_at);
                let now = clock.now();
                if let Some(ahead) = ahead {
                    self.collector.handle_clock_step(now, ahead);
                }
                now
            }
        }
    }

    /// Passes steps of the system time to the collector.
    fn follow_clock(&mut self) {
        let Time::OfClock { clock, steps, .. } = &mut self.time else { return };
        for step in clock.take_steps(steps) {
            self.collector.handle_clock_step(step.at, step.ahead_ns);
            self.step_ns = step.by_ns;
        }
    }

    fn give_hops(&mut self) {
        let reports = self.collector.take_records(&mut self.hops);
        for stage in self.stages.iter_mut().filter(|_| reports > 0) {
            stage.handle_hops(&self.hops, reports);
        }
        self.hops.clear();
    }

    fn take_counts(&mut self) {
        let counts = self.feed.take_counts();
        self.collector.count_shed(counts.shed);
        self.collector.count_kernel_dropped(counts.kernel_dropped);
        self.past.add(counts);
    }

    fn let_time_pass(&mut self) {
        let now = self.now();
        self.follow_clock();
        self.give_hops();
        self.look_at_history(now);
        self.collector.handle_timeout(now);
        self.give_outputs();
        if now.since(self.ledger_at) >= LEDGER_EVERY {
            self.ledger_at = now;
            self.give_ledger(now);
        }
        for stage in &mut self.stages {
            stage.handle_timeout(now);
        }
    }

    fn give_outputs(&mut self) {
        while let Some(output) = self.collector.poll_output() {
            for stage in &mut self.stages {
                stage.handle_output(&output);
            }
            if let Output::Event(event) = &output {
                self.give_evidence(event);
            }
        }
    }

    fn give_evidence(&mut self, event: &Event) {
        if !self.stages.iter().any(|stage| stage.wants_evidence()) {
            return;
        }
        let now = self.now();
        let reports = self.evidence.of(now, event);
        if !reports.is_empty() {
            let wanting = self.stages.iter_mut().filter(|stage| stage.wants_evidence());
            wanting.for_each(|stage| stage.handle_evidence(&reports));
        }
    }

    /// Informs the collector, a few times a second, whether history is being written.
    fn look_at_history(&mut self, now: Nanos) {
        if now.since(self.history_at) < HISTORY_EVERY {
            return;
        }
        self.history_at = now;
        if let Some(trouble) = self.stages.iter().find_map(|stage| stage.history_trouble()) {
            self.collector.handle_history(now, trouble.as_deref());
        }
    }

    fn give_ledger(&mut self, now: Nanos) {
        // There are many streams, so the view is created only for stages that want it.
        if self.stages.iter().any(|stage| stage.wants_ledger(now)) {
            let ledger = self.ledger();
            let wanting = self.stages.iter_mut().filter(|stage| stage.wants_ledger(now));
            let taken_at = self.collector.time_of_day(now);
            wanting.for_each(|stage| stage.handle_ledger(now, taken_at, &ledger));
        }
    }

    /// Confirms open gaps: datagrams that have not arrived are lost.
    fn finish(&mut self) {
        if let Time::OfCapture(clock) = &mut self.time {
            clock.pass(CAPTURE_END);
        }
        self.let_time_pass();
        self.answer();
        let now = self.now();
        self.collector.finish(now);
        self.give_outputs();
        self.stages.iter_mut().for_each(|stage| stage.settle());
        if matches!(self.time, Time::OfCapture(_)) {
            self.drain();
        }
        self.answer_last();
        let now = self.now();
        for at in 0..self.stages.len() {
            if self.stages[at].export().is_some() {
                self.give_last_ledger(at, now);
                self.stages[at].wind_up();
            }
        }
        // Later stages end first: history is the first stage and then stores what became of their messages.
        for at in (0..self.stages.len()).rev() {
            if self.stages[at].export().is_none() {
                self.give_last_ledger(at, now);
            }
            self.stages[at].finish();
        }
    }

    /// Waits for the outputs of a replay in parallel, so that unreachable ones share one deadline.
    fn drain(&mut self) {
        thread::scope(|scope| {
            for stage in self.stages.iter_mut().filter(|stage| stage.export().is_some()) {
                // Without a thread there is no wait, and what is missing is counted.
                let _ = Builder::new().spawn_scoped(scope, || stage.drain());
            }
        });
    }

    fn give_last_ledger(&mut self, at: usize, now: Nanos) {
        if self.stages[at].wants_ledger(END_OF_TIME) {
            let ledger = self.ledger();
            self.stages[at].handle_ledger(now, self.collector.time_of_day(now), &ledger);
        }
    }

    fn ledger(&self) -> LedgerView {
        asked::ledger(&self.collector, &self.stages, self.past, self.feed.sockets())
    }

    fn answer(&mut self) {
        // At most as many as can be queued, so that queries cannot keep reports waiting for long.
        for _ in 0..MAX_QUESTIONS {
            let Ok(question) = self.questions.try_recv() else { return };
            self.show(question);
        }
    }

    /// Answers the queries for the end. Those that come later learn that the collector has stopped.
    fn answer_last(&mut self) {
        for question in self.last_questions.take() {
            self.show(question);
        }
        self.answer();
        self.questions = sync_channel(1).1;
    }

    fn show(&mut self, question: Question) {
        let begun = processor_time();
        let now = self.now();
        let Work { collector, stages, past, time, step_ns, asked, feed, evidence, .. } = &mut *self;
        let processor = ProcessorTime { reports: begun.saturating_sub(*asked), queries: *asked };
        let now = collector.time_of_day(now);
        let steps = match time {
            Time::OfClock { steps, .. } => *steps as u64,
            Time::OfCapture(_) => 0,
        };
        let clock = ClockView { steps, last_step_ns: *step_ns };
        let sockets = feed.sockets();
        let reception = *past;
        question(&mut Sight { collector, now, stages, reception, clock, processor, sockets, evidence });
        self.asked += processor_time().saturating_sub(begun);
    }

    fn now(&mut self) -> Nanos {
        match &mut self.time {
            Time::OfClock { clock, reached, .. } => {
                if !self.feed.is_waiting() {
                    *reached = clock.now().max(*reached);
                }
                *reached
            }
            Time::OfCapture(clock) => clock.now(),
        }
    }
}

/// Interval at which the collector is informed whether history is being written.
const HISTORY_EVERY: Nanos = Nanos(250_000_000);
/// Maximum wait for datagrams before time and queries are checked.
const PATIENCE: Duration = Duration::from_millis(10);
/// Maximum number of hops collected before they are passed to the stages.
const MAX_HOPS: usize = 4_096;
/// Maximum number of pending queries.
const MAX_QUESTIONS: usize = 64;
/// A time at which every stage with a ledger interval is due.
const END_OF_TIME: Nanos = Nanos::MAX;
/// How long a capture continues after its last datagram: long enough to confirm gaps and end episodes.
const CAPTURE_END: Nanos = Nanos::from_secs(5);

#[cfg(test)]
mod tests;
