//! The answers to one probe: a report about it, and a router's message that quotes it.

use std::net::IpAddr;

use super::cause::Cause;
use super::quote::Quote;
use super::stack::{Ended, Seen};

/// The answers to one probe so far.
#[derive(Debug, Default)]
pub(super) struct Answers {
    report: Option<Seen>,
    quote: Option<Quote>,
}

impl Answers {
    pub(super) const fn has_report(&self) -> bool {
        self.report.is_some()
    }

    pub(super) fn add_report(&mut self, report: Seen) {
        self.report = Some(report);
    }

    /// Adds a quote; the first one counts.
    pub(super) fn add_quote(&mut self, quote: Quote) {
        self.quote = self.quote.take().or(Some(quote));
    }

    /// Whether another answer would change nothing. A node that drops a probe sends a report and a message,
    /// of which either may arrive first; `has_reports`: whether reports can arrive.
    pub(super) fn are_complete(&self, has_reports: bool) -> bool {
        match (&self.report, &self.quote) {
            (Some(report), quote) => report.ended != Ended::Lost || quote.is_some(),
            (None, Some(quote)) => !has_reports || (quote.cause == Cause::NotTaken && quote.int.is_some()),
            (None, None) => false,
        }
    }

    /// What they show together about a probe to `destination` with the initial TTL `sent`; `None`: there is
    /// none.
    pub(super) fn seen(self, destination: IpAddr, sent: u8) -> Option<Seen> {
        let quoted = self.quote.map(|quote| quote.seen(destination, sent));
        match (self.report, quoted) {
            (Some(report), Some(quoted)) if report.ended == Ended::Lost => Some(both(report, quoted)),
            (Some(report), _) => Some(report),
            (None, quoted) => quoted,
        }
    }
}

/// The hops of a drop report, which include the node that dropped the probe, with what the router says.
fn both(report: Seen, quoted: Seen) -> Seen {
    let ended = if quoted.ended == Ended::MarkCleared { quoted.ended } else { report.ended };
    if report.hops.is_empty() {
        return Seen { ended, added: None, ..quoted };
    }
    Seen { ended, at: quoted.at, reason: quoted.reason, distance: quoted.distance, ..report }
}

#[cfg(test)]
mod tests;
