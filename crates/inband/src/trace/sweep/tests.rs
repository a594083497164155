//! What probes with a small TTL show.

use std::net::IpAddr;

use super::Sweep;
use crate::trace::cause::Cause;
use crate::trace::quote::{Carried, Quote};
use crate::trace::stack::Ended;

const DESTINATION: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 9, 9, 9));

fn quote(number: u8, cause: Cause, ttl: u8) -> Option<Quote> {
    let from = [100, 64, 0, number].into();
    Some(Quote { from, number: number.into(), cause, ttl, int: Some(Carried::default()) })
}

#[test]
fn the_last_router_that_quotes_a_probe_is_where_it_was_seen_last() {
    let sweep = Sweep(vec![None, quote(2, Cause::TimeExceeded, 1), None, quote(4, Cause::NotTaken, 1), None]);

    let seen = sweep.explanation(DESTINATION);

    assert_eq!(sweep.routers().iter().flatten().count(), 1);
    assert_eq!(sweep.routers().len(), 2, "nothing behind the last router");
    assert_eq!((seen.ended, seen.at, seen.reason), (Ended::Lost, Some([100, 64, 0, 2].into()), None));
}

#[test]
fn a_router_that_refuses_these_probes_tells_why_the_others_were_lost() {
    let no_route = Cause::Undeliverable("no route");
    let sweep = Sweep(vec![quote(1, Cause::TimeExceeded, 1), None, quote(2, no_route, 2), None]);

    let seen = sweep.explanation(DESTINATION);

    assert_eq!(
        (seen.at, seen.reason, seen.distance),
        (Some([100, 64, 0, 2].into()), Some("no route"), Some(2))
    );
}

#[test]
fn without_a_quote_nothing_is_known() {
    let seen = Sweep(vec![None, None]).explanation(DESTINATION);

    assert_eq!((seen.ended, seen.at, seen.hops.len()), (Ended::Lost, None, 0));
}
