//! What does the demo show on a terminal, redrawn in place?

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;

use inband_collector::Output;
use inband_model::Event;
use terminal_size::{Height, Width, terminal_size};

use super::lines::summary;
use super::{Progress, Show, table, words};

/// Redraws the state of the fabric over what it drew before.
pub(super) struct Screen<W: Write> {
    out: W,
    next_drawing: Duration,
    drawn: Drawn,
    /// The latest events, newest first.
    events: VecDeque<(Duration, Event)>,
    last_received: (Duration, u64),
    rate: u64,
}

/// What stands on the terminal.
#[derive(Clone, Copy, Default)]
struct Drawn {
    lines: usize,
    size: (usize, usize),
}

/// Time between two drawings.
const EVERY: Duration = Duration::from_millis(200);
/// Time over which the rate is measured.
const RATE_WINDOW: Duration = Duration::from_secs(1);
/// Events that are kept, and shown where there is room.
const EVENTS: usize = 32;
/// Lines of events for which flows make room.
const EVENT_LINES: usize = 5;
/// Lines beside flows, queues and events: title, progress, ledgers, headings and blanks.
const FIXED_LINES: usize = 9;
/// The height from which more than one queue is shown, and how many then are.
const TALL: usize = 30;
const QUEUES: usize = 4;
/// The size of a terminal that does not tell.
const USUAL_SIZE: (usize, usize) = (80, 24);

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const CLEAR_TO_END_OF_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";
const CLEAR_ALL: &str = "\x1b[H\x1b[2J";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

impl<W: Write> Screen<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            next_drawing: Duration::ZERO,
            drawn: Drawn::default(),
            events: VecDeque::new(),
            last_received: (Duration::ZERO, 0),
            rate: 0,
        }
    }

    fn measure(&mut self, progress: &Progress<'_>) {
        let (at, received) = self.last_received;
        let span = progress.elapsed.saturating_sub(at);
        if span >= RATE_WINDOW {
            let now = progress.monitor.received();
            let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX).max(1);
            self.rate = (now - received) * 1_000 / millis;
            self.last_received = (progress.elapsed, now);
        }
    }

    fn draw(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        let size = match terminal_size() {
            Some((Width(width), Height(height))) => (usize::from(width), usize::from(height)),
            None => USUAL_SIZE,
        };
        let lines = self.lines(progress, size);
        let mut picture = self.back_to_the_top(size);
        for line in &lines {
            picture.push_str(line);
            picture.push_str(CLEAR_TO_END_OF_LINE);
            picture.push('\n');
        }
        picture.push_str(CLEAR_BELOW);
        self.drawn = Drawn { lines: lines.len(), size };
        self.out.write_all(picture.as_bytes())?;
        self.out.flush()
    }

    /// Goes to where the picture begins; on a terminal that has changed its size, where it would.
    fn back_to_the_top(&self, size: (usize, usize)) -> String {
        match self.drawn {
            Drawn { lines: 0, .. } => HIDE_CURSOR.to_owned(),
            Drawn { lines, size: same } if same == size => format!("\x1b[{lines}A\r"),
            Drawn { .. } => CLEAR_ALL.to_owned(),
        }
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

    /// Leaves the whole story in the place of the picture.
    fn finish(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        self.draw(progress)?;
        let (lines, (width, _)) = (self.drawn.lines, self.drawn.size);
        write!(self.out, "\x1b[{lines}A\r{CLEAR_BELOW}")?;
        for line in head(progress, width, self.rate).iter().take(2) {
            writeln!(self.out, "{}", cut(line, width))?;
        }
        writeln!(self.out, "\nEvents")?;
        for (at, event) in self.events.iter().rev() {
            for line in table::event(*at, event, progress.scenario, width) {
                writeln!(self.out, "{line}")?;
            }
        }
        summary(&mut self.out, progress)
    }
}

impl<W: Write> Drop for Screen<W> {
    fn drop(&mut self) {
        if self.drawn.lines > 0 {
            // Also where the demo failed in the middle; the terminal may be what failed.
            let _ = self.out.write_all(SHOW_CURSOR.as_bytes()).and_then(|()| self.out.flush());
        }
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
    let done = (progress.elapsed.as_secs_f64() / progress.duration.as_secs_f64()).min(1.0);
    let text = format!(
        "{} of {}, Ctrl-C stops",
        words::seconds(progress.elapsed),
        words::seconds(progress.duration)
    );
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

/// The queues in which a packet had to wait lately, behind a heading of their own.
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

fn bold(text: &str, width: usize) -> String {
    format!("{BOLD}{}{PLAIN}", cut(text, width))
}

/// The part of a line that fits, so that a line stays one line; a bold one was cut before.
fn cut(line: &str, width: usize) -> String {
    if line.starts_with(BOLD) {
        return line.to_owned();
    }
    line.chars().take(width).collect()
}

#[cfg(test)]
mod tests;
