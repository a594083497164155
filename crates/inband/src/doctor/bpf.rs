//! Whether the kernel accepts the INT programs and creates the devices they need.

use std::error::Error;
use std::io;

use inband_host::{HostError, probe};

use super::finding::{Area, Finding};
use super::sys::in_new_network_namespace;

const HOST: &[&str] = &["host"];

/// Loads each object, attaches a program and creates a shim, both in network namespaces that are removed
/// afterwards.
pub(super) fn look() -> Vec<Finding> {
    vec![
        judge("INT programs", "accepted; they are built in, no compiler needed", probe::programs()),
        judge("drop program", "accepted, and hears of drops", probe::drops()),
        links(in_new_network_namespace(|| probe::links("lo"))),
        shim(in_new_network_namespace(probe::shim)),
    ]
}

const RAISE: &str = "sudo inband doctor";

fn judge(name: &str, good: &str, outcome: Result<(), HostError>) -> Finding {
    let finding = |found: &str| Finding::ok(Area::Bpf, name, found, HOST);
    let why = "INT on this host's own packets needs it";
    match outcome {
        Ok(()) => finding(good),
        Err(error) if is_forbidden(&error) => finding("not allowed").missing(why, RAISE),
        Err(error) => finding(&sentence(&error)).missing(why, "boot a kernel of 6.6 or later"),
    }
}

fn links(outcome: io::Result<Result<(), HostError>>) -> Finding {
    let name = "links (TCX)";
    match outcome {
        Ok(outcome) => judge(name, "a program was attached and removed", outcome),
        Err(_) => Finding::ok(Area::Bpf, name, "not tried", HOST)
            .degraded("a namespace to try it in could not be made", RAISE),
    }
}

fn shim(outcome: io::Result<Result<(), HostError>>) -> Finding {
    let finding = |found: &str| Finding::ok(Area::Bpf, "shim (veth)", found, HOST);
    let why = "packets are cut into segments in a pair of virtual devices before they get INT";
    match outcome {
        Ok(Ok(())) => finding("a pair of devices was made and removed"),
        Ok(Err(error)) if is_forbidden(&error) => finding("not allowed").missing(why, RAISE),
        Ok(Err(error)) => finding(&sentence(&error)).missing(why, "sudo modprobe veth"),
        Err(_) => finding("not tried").degraded("a namespace to try it in could not be made", RAISE),
    }
}

/// The error and its causes, on one line; the verifier's message can be long.
fn sentence(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    let text: Vec<_> = causes.map(|cause| cause.to_string()).collect();
    let line = text.join(": ").split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_CHARACTERS) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

const MAX_CHARACTERS: usize = 300;

/// Whether the kernel returned EPERM or EACCES somewhere in the chain.
fn is_forbidden(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| (*error).source())
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::PermissionDenied)
}
