//! The options of a trace.

use std::io;

use clap::Parser;

use super::destination::{check, unreachable, unresolved};
use super::{Args, collector, flow};
use crate::failure::Failure;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    args: Args,
}

const TUPLE: &str = "udp 127.0.0.1:40000 > 127.0.0.2:80";

#[test]
fn a_destination_beside_a_flow_is_that_of_the_flow() {
    let line = |arguments: &[&str]| Line::try_parse_from([&["trace"], arguments].concat()).unwrap();
    for arguments in [&["--flow", TUPLE][..], &["127.0.0.2", "--flow", TUPLE]] {
        let (flow, _) = flow(&line(arguments).args).unwrap();
        assert_eq!(flow.to_string(), TUPLE, "{arguments:?}");
    }
    let Err(Failure::Usage(error)) = flow(&line(&["127.0.0.3", "--flow", TUPLE]).args) else {
        panic!("another destination")
    };
    assert_eq!(error.to_string(), format!("`127.0.0.3` is not the destination of `{TUPLE}`"));
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    for arguments in [
        &["127.0.0.2", "--ecmp", "--watch"][..],
        &["--ecmp", "--flow", TUPLE],
        &["--port", "1", "--flow", TUPLE],
        &[],
    ] {
        assert!(Line::try_parse_from([&["trace"], arguments].concat()).is_err(), "{arguments:?}");
    }
}

#[test]
fn a_collector_that_is_no_address_is_a_mistake() {
    let line = |url: &str| Line::try_parse_from(["trace", "127.0.0.2", "--collector", url]).unwrap();
    for url in ["", "ftp://x"] {
        assert!(matches!(collector(&line(url).args), Err(Failure::Usage(_))), "{url}");
    }
    assert!(collector(&line("127.0.0.1:8080").args).unwrap().is_some());
}

#[test]
fn a_name_that_does_not_exist_is_a_mistake_but_not_a_resolver_that_fails() {
    let resolver = |text: &str| {
        let text = format!("failed to lookup address information: {text}");
        unresolved("x", io::Error::other(text))
    };

    assert!(matches!(resolver("Name or service not known"), Failure::Usage(_)));
    assert!(matches!(resolver("Temporary failure in name resolution"), Failure::Work(_)));
    assert!(matches!(resolver("Try again"), Failure::Work(_)));
    assert!(matches!(unresolved("x", io::ErrorKind::InvalidInput.into()), Failure::Usage(_)));
}

#[test]
fn a_destination_that_is_no_other_host_is_a_mistake() {
    for (destination, source) in
        [("10.0.0.1", "10.0.0.1"), ("127.0.0.2", "127.0.0.1"), ("224.0.0.5", "10.0.0.1"), ("::1", "::1")]
    {
        let checked = check(destination.parse().unwrap(), source.parse().unwrap());
        assert!(matches!(checked, Err(Failure::Usage(_))), "{destination}");
    }
    assert!(check([10, 0, 0, 2].into(), [10, 0, 0, 1].into()).is_ok());
    let to_all = unreachable([255; 4].into(), io::ErrorKind::PermissionDenied.into());
    assert!(matches!(to_all, Failure::Usage(_)), "{to_all:?}");
    let no_route = unreachable([10, 0, 0, 2].into(), io::ErrorKind::NetworkUnreachable.into());
    assert!(matches!(no_route, Failure::Work(_)), "{no_route:?}");
}
