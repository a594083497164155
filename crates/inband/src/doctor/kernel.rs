//! The kernel's version, and whether it has BTF.

use std::fs;
use std::path::Path;

use super::finding::{Area, Finding};

/// The root of the files that describe the system; tests use another.
#[derive(Clone, Copy, Debug)]
pub(super) struct System<'a> {
    pub(super) root: &'a Path,
}

impl System<'_> {
    /// The text of a file; `None`: the file cannot be read.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }

    /// The first line of a file; `None`: the file cannot be read.
    pub(super) fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        text.lines().next().map(|line| line.trim().to_owned())
    }

    /// A number in a file.
    pub(super) fn number(&self, path: &str) -> Option<u64> {
        self.line(path)?.parse().ok()
    }
}

const HOST: &[&str] = &["host"];

pub(super) fn look(system: &System<'_>, reasons: Result<usize, String>) -> Vec<Finding> {
    let mut findings = vec![version(system), types(reasons)];
    if let Some(is_compiled) = system.number("proc/sys/net/core/bpf_jit_enable") {
        findings.push(compiler(is_compiled));
    }
    findings
}

fn version(system: &System<'_>) -> Finding {
    let release = system.line("proc/sys/kernel/osrelease").unwrap_or_else(|| "unknown".to_owned());
    let finding = Finding::ok(Area::Kernel, "version", &release, HOST);
    match numbers(&release) {
        Some(version) if version >= (6, 6) => finding,
        Some(version) if version >= (6, 2) => finding.degraded(
            "programs cannot be attached as links, which come with 6.6",
            "boot a kernel of 6.6 or later",
        ),
        _ => finding.missing(
            "links for programs come with 6.6, and functions by which they read packets with 6.2",
            "boot a kernel of 6.6 or later",
        ),
    }
}

/// The first two numbers of a release such as `6.18.44-cloud`.
fn numbers(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|character: char| !character.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn types(reasons: Result<usize, String>) -> Finding {
    let name = "types (BTF)";
    match reasons {
        Ok(count) => {
            Finding::ok(Area::Kernel, name, format!("present; {count} reasons to drop packets"), HOST)
        }
        Err(error) => Finding::ok(Area::Kernel, name, error, HOST).missing(
            "programs find the kernel's fields by them, and drops their reasons",
            "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y, as those of all large distributions are",
        ),
    }
}

fn compiler(is_compiled: u64) -> Finding {
    let finding = |found| Finding::ok(Area::Kernel, "BPF JIT", found, HOST);
    match is_compiled {
        0 => finding("off")
            .degraded("every packet takes several times as long", "sudo sysctl -w net.core.bpf_jit_enable=1"),
        _ => finding("on"),
    }
}

#[cfg(test)]
pub(super) mod tests;
