//! The caller's privileges.

use rustix::thread::CapabilitySet;

use super::finding::{Area, Finding};

/// The capabilities that programs, devices and namespaces require.
const WANTED: [(CapabilitySet, &str, &str); 5] = [
    (CapabilitySet::BPF, "cap_bpf", "load programs"),
    (CapabilitySet::NET_ADMIN, "cap_net_admin", "attach programs and set up devices"),
    (CapabilitySet::NET_RAW, "cap_net_raw", "send and receive whole packets"),
    (CapabilitySet::PERFMON, "cap_perfmon", "hear of drops"),
    (CapabilitySet::SYS_ADMIN, "cap_sys_admin", "make and enter network namespaces"),
];

const COMMANDS: &[&str] = &["host", "switch", "lab", "trace"];

/// Checks the effective capabilities; `program` is the path of this program.
pub(super) fn look(user: u32, effective: CapabilitySet, program: &str) -> Finding {
    let who = if user == 0 { "root".to_owned() } else { format!("user {user}") };
    let lacking: Vec<_> = WANTED.iter().filter(|(capability, ..)| !effective.contains(*capability)).collect();
    if lacking.is_empty() {
        return Finding::ok(
            Area::Privileges,
            "capabilities",
            format!("{who}, all that are needed"),
            COMMANDS,
        );
    }
    let names: Vec<_> = lacking.iter().map(|(_, name, _)| *name).collect();
    let uses: Vec<_> = lacking.iter().map(|(.., what)| *what).collect();
    let all: Vec<_> = WANTED.iter().map(|(_, name, _)| *name).collect();
    Finding::ok(Area::Privileges, "capabilities", format!("{who}, without {}", names.join(", ")), COMMANDS)
        .missing(
            format!("cannot {}", uses.join("; cannot ")),
            format!("sudo setcap {}+ep {program}", all.join(",")),
        )
}

#[cfg(test)]
mod tests;
