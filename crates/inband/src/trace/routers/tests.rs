//! What routers did with INT.

use super::{Handling, routers};
use crate::trace::cause::Cause;
use crate::trace::quote::{Carried, Quote};
use crate::trace::stack::{Ended, Hop, Seen};

/// A router's quote of a probe that has passed `hop_count` hops.
fn quote(hop_count: usize, is_full: bool) -> Quote {
    let int = Some(Carried { hops: Vec::new(), hop_count, is_full });
    Quote { from: [10, 0, 0, 1].into(), number: 1, cause: Cause::TimeExceeded, ttl: 1, int }
}

fn handled(quotes: &[Option<Quote>], seen: &[Seen]) -> Vec<Handling> {
    let quotes: Vec<_> = quotes.iter().map(Option::as_ref).collect();
    routers(&quotes, seen).iter().map(|router| router.int).collect()
}

/// A sink's report of hops with these egress interfaces.
fn sink(egress: &[u16]) -> Seen {
    let hop = |id: &u16| Hop { egress_interface: Some(*id), ..Hop::default() };
    Seen::reported(egress.iter().map(hop).collect(), Ended::Sink)
}

#[test]
fn a_router_behind_which_no_hop_is_added_has_no_int() {
    let quotes = [0, 1, 1].map(|hops| Some(quote(hops, false)));

    assert_eq!(handled(&quotes, &[sink(&[2, 2])]), [Handling::Added, Handling::None, Handling::Added]);
}

#[test]
fn a_quote_that_is_too_short_for_all_hops_counts_them_all() {
    let quotes: Vec<_> = (13..16).map(|hops| Some(quote(hops, false))).collect();

    let handled = handled(&quotes, &[]);

    assert_eq!(handled, [Handling::Added, Handling::Added, Handling::Unknown]);
}

#[test]
fn a_router_that_was_allowed_no_hop_may_have_int() {
    let quotes = [Some(quote(15, false)), Some(quote(16, true)), Some(quote(16, true))];
    assert_eq!(handled(&quotes, &[]), [Handling::Added, Handling::Unknown, Handling::Unknown]);

    let none = [Some(quote(0, true)), Some(quote(0, true))];
    assert_eq!(handled(&none, &[sink(&[])]), [Handling::Unknown; 2]);

    // M: the link behind the first router had no room.
    let no_room = [Some(quote(1, false)), Some(quote(1, true))];
    assert_eq!(handled(&no_room, &[]), [Handling::Unknown; 2]);
}

#[test]
fn a_destination_with_int_does_not_hide_that_the_last_router_has_none() {
    let quotes = [Some(quote(0, false))];

    assert_eq!(handled(&quotes, &[sink(&[0])]), [Handling::None]);
    assert_eq!(handled(&quotes, &[sink(&[2])]), [Handling::Added]);
    assert_eq!(handled(&quotes, &[]), [Handling::Unknown]);
}

#[test]
fn routers_without_an_answer_or_a_mark_tell_nothing_about_others() {
    let unmarked = || Some(Quote { int: None, ..quote(0, false) });
    let quotes = [Some(quote(0, false)), None, Some(quote(1, false)), unmarked()];

    let handled = handled(&quotes, &[]);

    assert_eq!(handled, [Handling::Unknown, Handling::NoAnswer, Handling::Unknown, Handling::Unmarked]);
}
