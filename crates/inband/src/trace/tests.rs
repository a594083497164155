//! The options of a trace.

use clap::Parser;

use super::{Args, flow};
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
