//! Whether there is room for reports, in socket buffers and on the disk.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::statvfs;
use rustix::net::sockopt;

use super::finding::{Area, Finding};
use super::kernel::System;
use super::sys::take_several_datagrams;

const COLLECT: &[&str] = &["collect"];
const REPORT_PORT: u16 = 32_766;
/// The collector's default receive buffer, bytes.
const SOCKET_BUFFER_BYTES: u64 = 64 << 20;
/// Below the first, history is short; below the second, there is practically none.
const SOME_BYTES: u64 = 1 << 30;
const FEW_BYTES: u64 = 64 << 20;

/// Looks at sockets, and at the disk of the directory `store`.
pub(super) fn look(system: &System<'_>, store: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(granted_bytes().map(|bytes| buffer(bytes, system.number("proc/sys/net/core/rmem_max"))));
    findings.push(segments(
        UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| take_several_datagrams(socket.as_fd())),
    ));
    findings.push(port(UdpSocket::bind((Ipv4Addr::LOCALHOST, REPORT_PORT)).map(|_| ())));
    findings.push(disk(store));
    findings
}

/// The receive buffer granted to a socket of this user; `rmem_max` is its bound unless the user may exceed
/// it.
fn buffer(granted_bytes: u64, rmem_max: Option<u64>) -> Finding {
    let found = match rmem_max {
        Some(most) if most < granted_bytes => {
            format!("{}, beyond net.core.rmem_max ({})", amount(granted_bytes), amount(most))
        }
        _ => amount(granted_bytes),
    };
    let finding = Finding::ok(Area::Collector, "receive buffer", found, COLLECT);
    if granted_bytes >= SOCKET_BUFFER_BYTES {
        return finding;
    }
    finding.degraded(
        format!(
            "a burst of reports is lost earlier than with {}, which cap_net_admin grants as well",
            amount(SOCKET_BUFFER_BYTES)
        ),
        format!("sudo sysctl -w net.core.rmem_max={SOCKET_BUFFER_BYTES}"),
    )
}

/// What the kernel grants a socket with the collector's request; `None`: no socket could be opened.
fn granted_bytes() -> Option<u64> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
    let wanted = usize::try_from(SOCKET_BUFFER_BYTES).ok()?;
    if sockopt::set_socket_recv_buffer_size_force(&socket, wanted).is_err() {
        sockopt::set_socket_recv_buffer_size(&socket, wanted).ok()?;
    }
    // The kernel doubles the size for its own bookkeeping.
    u64::try_from(sockopt::socket_recv_buffer_size(&socket).ok()? / 2).ok()
}

fn segments(outcome: io::Result<()>) -> Finding {
    let finding = |found: String| Finding::ok(Area::Collector, "UDP GRO", found, COLLECT);
    match outcome {
        Ok(()) => finding("on".to_owned()),
        Err(error) => finding(error.to_string())
            .degraded("every report costs a system call's share", "boot a kernel of 5.0 or later"),
    }
}

fn port(outcome: io::Result<()>) -> Finding {
    let finding =
        |found: String| Finding::ok(Area::Collector, format!("UDP port {REPORT_PORT}"), found, COLLECT);
    match outcome {
        Ok(()) => finding("free".to_owned()),
        Err(error) if error.kind() == ErrorKind::AddrInUse => finding("in use".to_owned()).degraded(
            "another collector takes the reports, unless it is yours that runs",
            format!("sudo ss -lunp sport = :{REPORT_PORT}"),
        ),
        Err(error) => finding(error.to_string()).missing("reports cannot be received", ""),
    }
}

/// The disk of the directory `store`.
pub(super) fn disk(store: &Path) -> Finding {
    judge_disk(store, free_bytes(store))
}

fn judge_disk(store: &Path, free: io::Result<u64>) -> Finding {
    let name = "disk";
    let found = |text: String| Finding::ok(Area::Collector, name, text, COLLECT);
    let fix = "inband collect with [store] path on a larger disk, or a smaller max_size";
    match free {
        Ok(bytes) => {
            let finding = found(format!("{} free at {}", amount(bytes), store.display()));
            match bytes {
                ..FEW_BYTES => finding.missing("history cannot be kept", fix),
                FEW_BYTES..SOME_BYTES => finding.degraded("history is short", fix),
                SOME_BYTES.. => finding,
            }
        }
        Err(error) => found(format!("{}: {error}", store.display())).degraded("history may not be kept", fix),
    }
}

/// Bytes free for this user at the directory, or where it would be created.
fn free_bytes(store: &Path) -> io::Result<u64> {
    let there = store.ancestors().find(|path| path.exists());
    let there = there.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let disk = statvfs(there)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn amount(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{} kB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MB", bytes >> 20),
        _ => format!("{} GB", bytes >> 30),
    }
}

#[cfg(test)]
mod tests;
