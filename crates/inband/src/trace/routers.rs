//! What the routers on a path did with INT, from the quotes of probes whose TTL expired there.

use std::net::IpAddr;

use serde::Serialize;

use super::quote::{Carried, Quote};
use super::stack::Seen;

/// A router on the path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Router {
    pub(super) ttl: usize,
    /// `None`: it did not answer.
    pub(super) address: Option<IpAddr>,
    pub(super) int: Handling,
}

/// What a router did with INT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Handling {
    /// It added metadata.
    Added,
    /// It added none: a hop without INT.
    None,
    /// It got the probe without the mark of INT.
    Unmarked,
    /// Not known: the next router did not answer, or no more metadata could be added.
    Unknown,
    /// It did not answer.
    NoAnswer,
}

/// What each router did, by TTL from 1 on; `seen`: results of probes of the same flow.
pub(super) fn routers<'a>(
    quotes: &[Option<&Quote>],
    seen: impl IntoIterator<Item = &'a Seen>,
) -> Vec<Router> {
    // The hops that added metadata until the end of the path.
    let at_end = seen.into_iter().filter_map(|seen| seen.added).max();
    let router = |(at, quote): (usize, &Option<&Quote>)| {
        let behind = quotes.get(at + 1..).unwrap_or_default();
        let int = quote.map_or(Handling::NoAnswer, |quote| handling(quote, behind, at_end));
        Router { ttl: at + 1, address: quote.map(|quote| quote.from), int }
    };
    quotes.iter().enumerate().map(router).collect()
}

/// What a router did, from its own quote, those of the routers behind it, and the number of hops at the end.
fn handling(quote: &Quote, behind: &[Option<&Quote>], at_end: Option<usize>) -> Handling {
    let Some(own) = &quote.int else { return Handling::Unmarked };
    let next = behind.iter().enumerate().find_map(|(at, quote)| quote.map(|quote| (at, quote)));
    let (is_next, count) = match next {
        Some((at, Quote { int: Some(Carried { hop_count, is_full: false, .. }), .. })) => {
            (at == 0, Some(*hop_count))
        }
        // The last hop that was allowed has added metadata.
        Some((at, Quote { int: Some(int), .. })) if int.hop_count > own.hop_count => {
            (at == 0, Some(int.hop_count))
        }
        Some(_) => (false, None),
        None => (behind.is_empty(), at_end),
    };
    match count {
        _ if own.is_full => Handling::Unknown,
        Some(count) if count <= own.hop_count => Handling::None,
        Some(_) if is_next => Handling::Added,
        _ => Handling::Unknown,
    }
}

#[cfg(test)]
mod tests;
