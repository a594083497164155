//! The demo's display on a terminal, redrawn in place.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;

use crate::canvas::{self, Canvas, bold, cut};
use inband_collector::Output;
use inband_model::Event;

use super::lines::summary;
use super::show::{Progress, Show};
use super::{table, words};

/// Redraws the state of the fabric over what it drew before.
pub(super) struct Screen<W: Write> {
    canvas: Canvas<W>,
    next_drawing: Duration,
    /// The latest events, newest first.
    events: VecDeque<(Duration, Event)>,
    last_received: (Duration, u64),
    rate: u64,
}

/// Time between two drawings.
const EVERY: Duration = Duration::from_millis(200);
/// Time over which the rate is measured.
const RATE_WINDOW: Duration = Duration::from_secs(1);
/// Events that are kept, and shown where there is room.
const EVENTS: usize = 32;
/// Lines of events that flows leave room for.
const EVENT_LINES: usize = 5;
/// Lines other than flows, queues and events: title, progress, ledgers, headings and blanks.
const FIXED_LINES: usize = 9;
/// Height from which more than one queue is shown, and how many then are.
const TALL: usize = 30;
const QUEUES: usize = 4;
impl<W: Write> Screen<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            canvas: Canvas::new(out),
            next_drawing: Duration::ZERO,
            events: VecDeque::new(),
            last_received: (Duration::ZERO, 0),
            rate: 0,
        }
    }

    fn measure(&mut self, progress: &Progress<'_>) {
        let (at, received) = self.last_received;
        let span = progress.elapsed.saturating_sub(at);
        if span >= RATE_WINDOW {
            let now = progress.monitor.ledger().received;
            let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX).max(1);
            self.rate = (now - received) * 1_000 / millis;
            self.last_received = (progress.elapsed, now);
        }
    }

    fn draw(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        let size = canvas::size();
        let lines = self.lines(progress, size);
        self.canvas.draw(&lines, size)
    }

    fn lines(&self, progress: &Progress<'_>, (width, height): (usize, usize)) -> Vec<String> {
        let queues = queues(progress, if height < TALL { 1 } else { QUEUES });
        let room = height.saturating_sub(1 + FIXED_LINES + queues.len());
        let reserved = self.event_lines(progress, width, (room / 2).min(EVENT_LINES)).len();
        let flows = flows(progress, room - reserved);
        let events = self.event_lines(progress, width, room.saturating_sub(flows.len()));

        let mut lines = head(progress, width, self.rate);
        lines.push(String::new());
        lines.push(bold(&table::flow_heading(), width));
        lines.extend(flows);
        lines.push(String::new());
        lines.extend(queues);
        lines.push(String::new());
        lines.push(bold("Events, newest first", width));
        lines.extend(events);
        lines.truncate(height.saturating_sub(1).max(1));
        lines.iter().map(|line| cut(line, width)).collect()
    }

    /// Events as lines, newest first, whole events only.
    fn event_lines(&self, progress: &Progress<'_>, width: usize, most: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, event) in &self.events {
            let event = table::event(*at, event, progress.scenario, width);
            if lines.len() + event.len() > most {
                break;
            }
            lines.extend(event);
        }
        lines
    }
}

impl<W: Write> Show for Screen<W> {
    fn output(&mut self, output: &Output, elapsed: Duration) -> io::Result<()> {
        if let Output::Event(event) = output {
            self.events.truncate(EVENTS - 1);
            self.events.push_front((elapsed, event.clone()));
        }
        Ok(())
    }

    fn tick(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        if progress.elapsed < self.next_drawing {
            return Ok(());
        }
        self.next_drawing = progress.elapsed + EVERY;
        self.measure(progress);
        self.draw(progress)
    }

    /// Replaces the picture by the whole story.
    fn finish(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        self.draw(progress)?;
        let (width, _) = canvas::size();
        let out = self.canvas.clear()?;
        for line in head(progress, width, self.rate).iter().take(2) {
            writeln!(out, "{}", cut(line, width))?;
        }
        writeln!(out, "\nEvents")?;
        for (at, event) in self.events.iter().rev() {
            for line in table::event(*at, event, progress.scenario, width) {
                writeln!(out, "{line}")?;
            }
        }
        summary(out, progress)
    }
}

fn head(progress: &Progress<'_>, width: usize, rate: u64) -> Vec<String> {
    vec![
        bold(&format!("inband demo: {}, INT in every watched packet", progress.scenario.size()), width),
        bar(progress, width),
        table::packets(progress.scenario),
        format!("{}, {}/s", table::reports(&progress.monitor.ledger()), words::count(rate)),
    ]
}

/// How far the run has come.
fn bar(progress: &Progress<'_>, width: usize) -> String {
    let page = progress.monitor.url().map(|url| format!("  {url}/")).unwrap_or_default();
    let elapsed = words::seconds(progress.elapsed);
    let Some(duration) = progress.duration else { return format!("{elapsed}, Ctrl-C stops{page}") };
    let done = (progress.elapsed.as_secs_f64() / duration.as_secs_f64()).min(1.0);
    let text = format!("{elapsed} of {}, Ctrl-C stops{page}", words::seconds(duration));
    let room = width.saturating_sub(text.len() + 4).min(40);
    let filled = (0..room).filter(|cell| (*cell as f64) < done * room as f64).count();
    format!("[{}{}] {text}", "#".repeat(filled), ".".repeat(room - filled))
}

/// The flows on at most `most` lines; the last says how many more there are.
fn flows(progress: &Progress<'_>, most: usize) -> Vec<String> {
    let flows = progress.monitor.flows();
    let shown = if flows.len() <= most { flows.len() } else { most.saturating_sub(1) };
    let mut lines: Vec<_> =
        flows.iter().take(shown).map(|flow| table::flow(flow, progress.scenario)).collect();
    if shown < flows.len() {
        lines.push(format!("and {} more", flows.len() - shown));
    }
    lines
}

/// The queues in which a packet had to wait lately, below their own heading.
fn queues(progress: &Progress<'_>, most: usize) -> Vec<String> {
    let mut queues = progress.monitor.queues();
    queues.retain(|queue| queue.recent > 0);
    let mut lines: Vec<_> =
        queues.iter().take(most).map(|queue| table::queue(queue, progress.scenario)).collect();
    if lines.is_empty() {
        lines.push("empty".to_owned());
    }
    let headings = std::iter::once("Deepest queue").chain(std::iter::repeat(""));
    lines.iter().zip(headings).map(|(line, heading)| format!("{heading:<15}{line}")).collect()
}

#[cfg(test)]
mod tests;
