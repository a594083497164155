//! Probes with a small TTL, quoted by the routers where it expires.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use anyhow::Error;
use inband_model::Flow;

use super::cause::Cause;
use super::probe::Prober;
use super::quote::Quote;
use super::raw::Raw;
use super::stack::{Ended, Seen};

/// The answers to probes of one flow with each TTL from 1 on.
#[derive(Debug, Default)]
pub(super) struct Sweep(Vec<Option<Quote>>);

impl Sweep {
    /// Sends probes with each TTL up to `most`, and collects their quotes for `wait`.
    pub(super) fn run(
        raw: &mut Raw,
        prober: &Prober,
        flow: Flow,
        most: u8,
        wait: Duration,
    ) -> Result<Self, Error> {
        raw.drain();
        let mut numbers = Vec::new();
        for ttl in 1..=most.min(MAX_TTL) {
            numbers.push(raw.send(prober, flow, ttl)?);
        }
        let mut quotes: Vec<Option<Quote>> = numbers.iter().map(|_| None).collect();
        let until = Instant::now() + wait.min(MAX_SWEEP);
        while Instant::now() < until && quotes.iter().any(Option::is_none) {
            for quote in raw.quotes(flow) {
                let place = numbers.iter().position(|number| *number == quote.number);
                if let Some(place) = place.and_then(|place| quotes.get_mut(place)) {
                    *place = Some(quote);
                }
            }
            std::thread::sleep(STEP);
        }
        Ok(Self(quotes))
    }

    /// The routers that quote probes whose TTL expired, by TTL from 1 on; none behind the last of them.
    pub(super) fn routers(&self) -> Vec<Option<&Quote>> {
        let is_router = |quote: &&Quote| quote.cause == Cause::TimeExceeded;
        let mut routers: Vec<_> = self.0.iter().map(|quote| quote.as_ref().filter(is_router)).collect();
        let last = routers.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        routers.truncate(last);
        routers
    }

    /// What this shows about a probe to `destination` that was lost: the last place where one was seen.
    pub(super) fn explanation(&self, destination: IpAddr) -> Seen {
        let mut quotes = self.0.iter().enumerate().filter_map(|(at, quote)| Some((at + 1, quote.as_ref()?)));
        // A message that tells why is the same for each probe that comes so far.
        let refused = quotes.find(|(_, quote)| matches!(quote.cause, Cause::Undeliverable(_)));
        if let Some((ttl, quote)) = refused {
            return quote.clone().seen(destination, u8::try_from(ttl).unwrap_or(MAX_TTL));
        }
        let Some(last) = self.routers().pop().flatten() else {
            return Seen::new(Vec::new(), Ended::Lost);
        };
        // The TTL of this probe was meant to expire.
        Seen { reason: None, distance: None, ..last.clone().seen(destination, MAX_TTL) }
    }
}

/// Largest TTL of these probes.
pub(super) const MAX_TTL: u8 = 16;
const STEP: Duration = Duration::from_millis(10);
const MAX_SWEEP: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests;
