//! What a report and a router's message show together, whichever comes first.

use std::net::IpAddr;

use super::Answers;
use crate::trace::cause::Cause;
use crate::trace::quote::{Carried, Quote};
use crate::trace::stack::{Ended, Hop, Seen};

const ROUTER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 1, 254));
const DESTINATION: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 9, 9, 9));

fn drop_report() -> Seen {
    let hop = Hop { node_id: 1, egress_interface: Some(0), ..Hop::default() };
    Seen::reported(vec![hop], Ended::Lost)
}

fn quote(cause: Cause) -> Quote {
    Quote { from: ROUTER, number: 1, cause, ttl: 64, int: Some(Carried::default()) }
}

fn seen(answers: Answers) -> Seen {
    answers.seen(DESTINATION, 64).unwrap()
}

#[test]
fn a_drop_report_and_a_router_s_message_are_one_outcome_in_either_order() {
    let no_route = quote(Cause::Undeliverable("no route"));
    let (mut first, mut last) = (Answers::default(), Answers::default());

    first.add_report(drop_report());
    assert!(!first.are_complete(true), "the message may follow");
    first.add_quote(no_route.clone());
    last.add_quote(no_route);
    assert!(!last.are_complete(true), "the report may follow");
    last.add_report(drop_report());

    assert!(first.are_complete(true) && last.are_complete(true));
    let first = seen(first);
    assert_eq!(first, seen(last));
    assert_eq!((first.ended, first.at, first.reason), (Ended::Lost, Some(ROUTER), Some("no route")));
    assert_eq!((first.hops[0].node_id, first.hops[0].egress_interface), (1, None), "none was chosen");
}

#[test]
fn a_sink_s_report_needs_no_message_and_an_arrival_no_report() {
    let (mut sink, mut arrival) = (Answers::default(), Answers::default());

    sink.add_report(Seen::reported(vec![Hop::default()], Ended::Sink));
    arrival.add_quote(quote(Cause::NotTaken));

    assert!(sink.are_complete(true) && arrival.are_complete(true));
    assert_eq!((seen(sink).ended, seen(arrival).ended), (Ended::Sink, Ended::NoSink));
}

#[test]
fn a_sink_that_forwards_the_probe_is_a_sink_although_the_destination_quotes_it_without_int() {
    let mut answers = Answers::default();

    answers.add_quote(Quote { int: None, ..quote(Cause::NotTaken) });
    assert!(!answers.are_complete(true), "the report may follow");
    answers.add_report(Seen::reported(vec![Hop::default()], Ended::Sink));

    assert_eq!(seen(answers).ended, Ended::Sink);
}

#[test]
fn a_message_is_enough_where_no_report_can_arrive() {
    let mut answers = Answers::default();
    assert!(!answers.are_complete(false));

    answers.add_quote(quote(Cause::TimeExceeded));

    assert!(answers.are_complete(false));
    assert_eq!(seen(answers).reason, Some("time exceeded"));
}
