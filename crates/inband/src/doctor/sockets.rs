//! Which sockets and namespaces are available.

use std::io;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use super::finding::{Area, Finding};
use super::sys::in_new_network_namespace;

const LIVE: &[&str] = &["switch", "trace"];
const FAST: &[&str] = &["switch"];
const SPACES: &[&str] = &["lab", "host"];

/// Opens each kind of socket once, and creates a namespace that is removed at once.
pub(super) fn look() -> Vec<Finding> {
    vec![
        packet(open(AddressFamily::PACKET)),
        xdp(open(AddressFamily::XDP)),
        namespaces(in_new_network_namespace(|| ())),
    ]
}

fn open(family: AddressFamily) -> Result<(), Errno> {
    socket_with(family, SocketType::RAW, SocketFlags::CLOEXEC, None).map(|_| ())
}

fn packet(outcome: Result<(), Errno>) -> Finding {
    let finding = |found: &str| Finding::ok(Area::Sockets, "AF_PACKET", found, LIVE);
    let why = "no packets can be taken off interfaces or put on them";
    match outcome {
        Ok(()) => finding("opened"),
        Err(Errno::PERM | Errno::ACCESS) => finding("not allowed").missing(why, RAW),
        Err(error) => finding(&error.to_string()).missing(why, "sudo modprobe af_packet"),
    }
}

fn xdp(outcome: Result<(), Errno>) -> Finding {
    let finding = |found: &str| Finding::ok(Area::Sockets, "AF_XDP", found, FAST);
    let why = "interfaces are driven by AF_PACKET, at about half the rate";
    match outcome {
        Ok(()) => finding("opened"),
        Err(Errno::PERM | Errno::ACCESS) => finding("not allowed").degraded(why, RAW),
        Err(Errno::AFNOSUPPORT) => {
            finding("the kernel has none").degraded(why, "boot a kernel built with CONFIG_XDP_SOCKETS=y")
        }
        Err(error) => finding(&error.to_string()).degraded(why, ""),
    }
}

const RAW: &str = "sudo inband doctor";

fn namespaces(outcome: io::Result<()>) -> Finding {
    let finding = |found: String| Finding::ok(Area::Sockets, "namespaces", found, SPACES);
    match outcome {
        Ok(()) => finding("one was made and is gone".to_owned()),
        Err(error) => {
            let found = match error.kind() {
                io::ErrorKind::PermissionDenied => "not allowed".to_owned(),
                _ => error.to_string(),
            };
            let why = "labs stand in namespaces of their own, and containers do";
            finding(found).missing(why, "sudo inband doctor")
        }
    }
}

#[cfg(test)]
mod tests;
