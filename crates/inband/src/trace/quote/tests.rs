//! What a quote shows.

use std::net::IpAddr;

use super::{Carried, Cause, Ended, Hop, Quote};

const ROUTER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 1, 254));
const DESTINATION: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 9, 9));

fn quote(from: IpAddr, cause: Cause, ttl: u8, int: Option<Carried>) -> Quote {
    Quote { from, number: 1, cause, ttl, int }
}

#[test]
fn a_router_s_no_route_is_no_arrival() {
    let no_route = Cause::Undeliverable("no route");
    for (from, cause, is_marked, ended, reason) in [
        (ROUTER, no_route, true, Ended::Lost, Some("no route")),
        (ROUTER, no_route, false, Ended::MarkCleared, Some("no route")),
        (ROUTER, Cause::TimeExceeded, true, Ended::Lost, Some("time exceeded")),
        (ROUTER, Cause::NotTaken, true, Ended::NoSink, None),
        (DESTINATION, Cause::NotTaken, true, Ended::NoSink, None),
        (DESTINATION, Cause::Undeliverable("prohibited"), true, Ended::NoSink, Some("prohibited")),
    ] {
        let quote = quote(from, cause, 64, is_marked.then(Carried::default));
        assert_eq!((quote.ended(DESTINATION), quote.reason()), (ended, reason), "{quote:?}");
    }
}

#[test]
fn a_quote_that_is_cut_counts_the_hops_it_does_not_show() {
    let int = Carried { hops: vec![Hop::default(); 13], hop_count: 15, is_full: false };

    let seen = quote(DESTINATION, Cause::NotTaken, 62, Some(int)).seen(DESTINATION, 64);

    assert_eq!((seen.hops.len(), seen.hidden_hops, seen.added), (13, 2, Some(15)));
    assert_eq!((seen.at, seen.distance), (Some(DESTINATION), Some(3)));
}

#[test]
fn hops_that_could_add_nothing_are_not_counted() {
    let int = Carried { hop_count: 2, is_full: true, ..Carried::default() };

    let seen = quote(DESTINATION, Cause::NotTaken, 60, Some(int)).seen(DESTINATION, 64);

    assert_eq!((seen.ended, seen.added), (Ended::NoSink, None));
}
