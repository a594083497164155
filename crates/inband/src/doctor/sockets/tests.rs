use std::io;

use rustix::io::Errno;

use super::{namespaces, packet, xdp};
use crate::doctor::finding::Status;

#[test]
fn without_af_packet_nothing_goes_and_without_af_xdp_it_goes_slower() {
    let cases = [(Ok(()), Status::Ok, Status::Ok), (Err(Errno::PERM), Status::Missing, Status::Degraded)];
    for (outcome, of_packet, of_xdp) in cases {
        assert_eq!((packet(outcome).status, xdp(outcome).status), (of_packet, of_xdp));
    }
    let none = xdp(Err(Errno::AFNOSUPPORT));
    assert_eq!((none.status, none.fix.len()), (Status::Degraded, 1));
    assert_eq!(packet(Err(Errno::AFNOSUPPORT)).fix, ["sudo modprobe af_packet"]);
}

#[test]
fn a_namespace_that_cannot_be_made_says_why() {
    assert_eq!(namespaces(Ok(())).status, Status::Ok);
    let forbidden = namespaces(Err(io::Error::from(Errno::PERM)));
    assert_eq!((forbidden.status, forbidden.found.as_str()), (Status::Missing, "not allowed"));
    let none = namespaces(Err(io::Error::from(Errno::NOSPC)));
    assert!(none.found.contains("No space left"), "{none:?}");
}
