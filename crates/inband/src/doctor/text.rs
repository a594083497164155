//! The findings as text.

use std::fmt::Write as _;

use super::finding::{Area, Finding, Status};
use super::verdict::{Verdict, is_ready};

/// How the text may look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Columns of the terminal.
    pub(super) width: usize,
    /// Whether colours may be used.
    pub(super) colours: bool,
}

/// Columns of the indent, a mark and the space after it.
const MARGIN: usize = 4;
/// Most columns to which lines are wrapped: longer ones are hard to read.
const MAX_WIDTH: usize = 110;
const MIN_WIDTH: usize = 50;

/// All findings by area, and their consequences for the subcommands.
pub(super) fn text(findings: &[Finding], verdicts: &[Verdict], look: Look) -> String {
    let look = Look { width: look.width.clamp(MIN_WIDTH, MAX_WIDTH), ..look };
    let name_width = findings.iter().map(|finding| columns(&finding.name)).max().unwrap_or_default();
    let mut text = String::new();
    for area in Area::ALL {
        let findings: Vec<_> = findings.iter().filter(|finding| finding.area == area).collect();
        if findings.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{}", look.paint(BOLD, area.title()));
        findings.iter().for_each(|finding| write_finding(&mut text, finding, name_width, look));
        text.push('\n');
    }
    write_verdicts(&mut text, verdicts, look);
    text
}

fn write_finding(text: &mut String, finding: &Finding, name_width: usize, look: Look) {
    let indent = MARGIN + name_width + 2;
    let lines = wrapped(&finding.found, look.width.saturating_sub(indent));
    let gap = " ".repeat(name_width - columns(&finding.name));
    let first = lines.first().map_or("", String::as_str);
    let _ = writeln!(text, "  {} {}{gap}  {first}", look.mark(finding.status), finding.name);
    for line in lines.iter().skip(1) {
        let _ = writeln!(text, "{:indent$}{line}", "");
    }
    if finding.status == Status::Ok {
        return;
    }
    let told = match finding.commands.join(", ") {
        commands if commands.is_empty() => finding.why.clone(),
        commands => format!("{commands}: {}", finding.why),
    };
    for line in wrapped(&told, look.width.saturating_sub(indent)) {
        let _ = writeln!(text, "{:indent$}{}", "", look.paint(look.colour(finding.status), &line));
    }
    for mend in &finding.fix {
        // A command stays on one line, so that it can be copied.
        let _ = writeln!(text, "{:indent$}{} {}", "", look.paint(DIM, "→"), look.paint(BOLD, mend));
    }
}

fn write_verdicts(text: &mut String, verdicts: &[Verdict], look: Look) {
    let _ = writeln!(text, "{}", look.paint(BOLD, "What works"));
    let easy: Vec<_> = verdicts.iter().filter(|verdict| verdict.status == Status::Ok).collect();
    let names: Vec<_> = easy.iter().map(|verdict| verdict.command.as_str()).collect();
    for line in wrapped(&names.join(", "), look.width - MARGIN) {
        let _ = writeln!(text, "  {} {line}", look.mark(Status::Ok));
    }
    for verdict in verdicts.iter().filter(|verdict| verdict.status != Status::Ok) {
        let how = match verdict.status {
            Status::Missing => "does not work yet",
            _ => "works, and could work better",
        };
        let line = format!("{} {how}: {}", verdict.command, verdict.because.join(", "));
        let mut mark = look.mark(verdict.status);
        for line in wrapped(&line, look.width - MARGIN) {
            let _ = writeln!(text, "  {mark} {line}");
            mark = " ".to_owned();
        }
    }
    if !is_ready(verdicts) {
        let _ = writeln!(text, "\nWhat is behind an arrow mends it; then run `inband doctor` again.");
    }
}

impl Look {
    fn paint(self, colour: &str, text: &str) -> String {
        if self.colours { format!("{colour}{text}{PLAIN}") } else { text.to_owned() }
    }

    const fn colour(self, status: Status) -> &'static str {
        match status {
            Status::Ok => GREEN,
            Status::Degraded => YELLOW,
            Status::Missing => RED,
        }
    }

    fn mark(self, status: Status) -> String {
        let mark = match status {
            Status::Ok => "✓",
            Status::Degraded => "!",
            Status::Missing => "✗",
        };
        self.paint(self.colour(status), mark)
    }
}

/// The text in lines of at most `width` columns, broken at spaces where possible.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().map_or(0, |line| columns(line));
        if line > 0 && line + 1 + columns(word) > width {
            lines.push(String::new());
        }
        if let Some(last) = lines.last_mut() {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const RED: &str = "\x1b[31m";
const PLAIN: &str = "\x1b[0m";

#[cfg(test)]
mod tests;
