#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::BTreeSet;

use inband_wire::drop_reason::Table;

use super::{CAUSES, Cause, Hints, OF_CLASSIFIERS};
use crate::drops::reasons::Reasons;

/// Names missing from kernel 6.18: of earlier and of later kernels.
const ELSEWHERE: [&str; 3] = ["PTYPE_ABSENT", "VXLAN_NO_REMOTE", "QDISC_BURST_DROP"];

fn mentioned() -> Vec<&'static str> {
    CAUSES.iter().flat_map(|(_, names)| names.iter().copied()).collect()
}

#[test]
fn every_name_stands_once() {
    let names = mentioned();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    assert!(OF_CLASSIFIERS.iter().all(|name| Cause::of(name) == Cause::AclDeny));
}

#[test]
fn the_names_are_those_of_the_kernel_they_were_taken_from() {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    if !release.starts_with("6.18.") {
        eprintln!("skipped: this kernel is {release}, and the names are compared with those of 6.18");
        return;
    }
    let kernel: BTreeSet<_> = Reasons::of_this_kernel().unwrap().names().map(str::to_owned).collect();
    let ours: BTreeSet<_> = mentioned().into_iter().map(str::to_owned).collect();
    let elsewhere: BTreeSet<_> = ELSEWHERE.map(str::to_owned).into();
    assert_eq!(ours.difference(&kernel).cloned().collect::<BTreeSet<_>>(), elsewhere);
    assert_eq!(kernel.difference(&ours).cloned().collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn every_code_stands_in_its_table() {
    for table in Table::ALL {
        for (cause, names) in CAUSES {
            let reason = table.get(cause.code(table));
            assert!(reason.is_some(), "{cause:?}, as {names:?}, in {}", table.name());
        }
    }
}

#[test]
fn the_default_table_tells_the_reasons_that_people_ask_about() {
    let name = |kernel: &str| {
        let code = Cause::of(kernel).with(Hints::default()).code(Table::default());
        Table::default().get(code).unwrap().name
    };
    assert_eq!(name("NO_SOCKET"), "no-socket");
    assert_eq!(name("NETFILTER_DROP"), "acl-deny");
    assert_eq!(name("IP_OUTNOROUTES"), "route-miss");
    assert_eq!(name("QDISC_DROP"), "traffic-manager");
    assert_eq!(name("UDP_CSUM"), "checksum-invalid");
    assert_eq!(name("NOT_SPECIFIED"), "unknown");
    assert_eq!(name("A_REASON_OF_NEXT_YEAR"), "unknown");
}

#[test]
fn a_header_that_is_wrong_is_told_from_a_ttl_that_is_used_up() {
    let hints = |ttl_used_up| Hints { ttl_used_up, ..Hints::default() };
    assert_eq!(Cause::of("IP_INHDR").with(hints(true)), Cause::TtlZero);
    assert_eq!(Cause::of("IP_INHDR").with(hints(false)), Cause::Malformed);
    assert_eq!(Cause::of("NO_SOCKET").with(hints(true)), Cause::NoSocket);
}

#[test]
fn a_route_that_drops_is_told_from_a_kernel_that_does_not_say() {
    let cause = |route_error| Cause::Unknown.with(Hints { route_error, ..Hints::default() });
    assert_eq!(cause(0), Cause::Unknown);
    assert_eq!(cause(22), Cause::RouteDrop { is_ipv6: false });
    assert_eq!(cause(13), Cause::AclDeny);
    assert_eq!((cause(101), cause(113)), (Cause::RouteMiss, Cause::RouteMiss));
    let of_ipv6 = Hints { route_error: 22, is_ipv6: true, ..Hints::default() };
    assert_eq!(Cause::Unknown.with(of_ipv6).code(Table::default()), 171);
    assert_eq!(Cause::NoSocket.with(of_ipv6), Cause::NoSocket);
}

#[test]
fn a_full_queue_is_a_tail_drop_in_every_table() {
    for table in Table::ALL {
        assert_eq!(Cause::of("QDISC_OVERLIMIT").code(table), table.tail_drop());
    }
}
