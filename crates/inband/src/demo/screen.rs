//! What does the demo show on a terminal, redrawn in place?

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;

use inband_collector::Output;
use inband_model::Event;
use terminal_size::{Height, Width, terminal_size};

use super::lines::summary;
use super::words;
use super::{Progress, Show};

/// Redraws the state of the fabric over what it drew before.
pub(super) struct Screen<W> {
    out: W,
    next_drawing: Duration,
    drawn_lines: usize,
    events: VecDeque<(Duration, Event)>,
    last_received: (Duration, u64),
    rate: u64,
}

/// Time between two drawings.
const EVERY: Duration = Duration::from_millis(200);
/// Time over which the rate is measured.
const RATE_WINDOW: Duration = Duration::from_secs(1);
/// Queues that are shown.
const QUEUES: usize = 3;
/// Events that are kept, and shown where there is room.
const EVENTS: usize = 8;
/// Lines beside flows and events: title, progress, ledger, headings and queues.
const FIXED_LINES: usize = 9 + QUEUES;
/// The size of a terminal that does not tell.
const USUAL_SIZE: (usize, usize) = (80, 24);

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const CLEAR_TO_END_OF_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

impl<W: Write> Screen<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            next_drawing: Duration::ZERO,
            drawn_lines: 0,
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
        let (width, height) = match terminal_size() {
            Some((Width(width), Height(height))) => (usize::from(width), usize::from(height)),
            None => USUAL_SIZE,
        };
        let lines = self.lines(progress, width, height);
        let mut picture = String::new();
        if self.drawn_lines > 0 {
            picture.push_str(&format!("\x1b[{}A\r", self.drawn_lines));
        } else {
            picture.push_str(HIDE_CURSOR);
        }
        for line in &lines {
            picture.push_str(line);
            picture.push_str(CLEAR_TO_END_OF_LINE);
            picture.push('\n');
        }
        picture.push_str(CLEAR_BELOW);
        self.drawn_lines = lines.len();
        self.out.write_all(picture.as_bytes())?;
        self.out.flush()
    }

    fn lines(&self, progress: &Progress<'_>, width: usize, height: usize) -> Vec<String> {
        let room = height.saturating_sub(1 + FIXED_LINES).max(4);
        let events = room.div_ceil(3).min(EVENTS);
        let mut lines = head(progress, width, self.rate);
        lines.push(String::new());
        lines.extend(flows(progress, width, room - events));
        lines.extend(queues(progress, width));
        lines.push(bold("Events", width));
        let shown = self.events.iter().rev().take(events);
        lines.extend(shown.map(|(elapsed, event)| {
            let sentence = words::event(event, progress.scenario);
            cut(&format!("{:>7}  {}: {sentence}", words::seconds(*elapsed), event.kind()), width)
        }));
        lines
    }
}

impl<W: Write> Show for Screen<W> {
    fn output(&mut self, output: &Output, elapsed: Duration) -> io::Result<()> {
        if let Output::Event(event) = output {
            if self.events.len() == EVENTS {
                self.events.pop_front();
            }
            self.events.push_back((elapsed, event.clone()));
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

    fn finish(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        self.draw(progress)?;
        self.out.write_all(SHOW_CURSOR.as_bytes())?;
        summary(&mut self.out, progress)
    }
}

impl<W> Drop for Screen<W> {
    fn drop(&mut self) {
        // Also where the demo failed in the middle.
        print!("{SHOW_CURSOR}");
    }
}

fn head(progress: &Progress<'_>, width: usize, rate: u64) -> Vec<String> {
    let ledger = progress.monitor.ledger();
    let count = words::count;
    vec![
        bold(&format!("inband demo: {}, INT in every watched packet", progress.scenario.size()), width),
        cut(&bar(progress, width), width),
        cut(
            &format!(
                "Reports: {} received ({}/s), {} accepted, {} malformed, {} shed, {} lost",
                count(ledger.received),
                count(rate),
                count(ledger.accepted),
                count(ledger.malformed),
                count(ledger.shed),
                count(ledger.lost),
            ),
            width,
        ),
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

/// The flows that fit into `room` lines, and how many do not.
fn flows(progress: &Progress<'_>, width: usize, room: usize) -> Vec<String> {
    let flows = progress.monitor.flows();
    let mut lines = vec![bold(&format!("{:<37} {:<19} {:>14}", "Flow", "Path", "Hops, us"), width)];
    for flow in flows.iter().take(room) {
        let path = flow.path.map(|path| words::path(path, progress.scenario)).unwrap_or_default();
        let line = format!("{:<37} {path:<19} {:>14}", flow.flow.to_string(), words::latencies(flow));
        lines.push(cut(&line, width));
    }
    if flows.len() > room {
        lines.push(format!("and {} more", flows.len() - room));
    } else {
        lines.push(String::new());
    }
    lines
}

fn queues(progress: &Progress<'_>, width: usize) -> Vec<String> {
    let mut lines = vec![bold("Deepest queues of the last second", width)];
    let queues = progress.monitor.deepest_queues(QUEUES);
    for place in 0..QUEUES {
        lines.push(queues.get(place).map_or_else(String::new, |queue| {
            let name = words::queue(queue, progress.scenario);
            let (recent, most) = (words::bytes(queue.recent), words::bytes(queue.max));
            let mark = if queue.congested { "  congested" } else { "" };
            cut(&format!("{name:<37} {recent:>10}, at most {most:>10}{mark}"), width)
        }));
    }
    lines.push(String::new());
    lines
}

fn bold(text: &str, width: usize) -> String {
    format!("{BOLD}{}{PLAIN}", cut(text, width))
}

/// The part of a line that fits, so that a line stays one line.
fn cut(line: &str, width: usize) -> String {
    line.chars().take(width).collect()
}
