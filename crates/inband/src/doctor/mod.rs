//! `inband doctor`: what this machine can do, and how to fix the rest.

mod backlog;
mod bpf;
mod clock;
mod collector;
mod configuration;
mod finding;
mod interfaces;
mod kernel;
mod privileges;
mod sockets;
mod sys;
mod text;
mod verdict;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Error};
use rustix::process::geteuid;
use rustix::thread::{CapabilitySet, capabilities};
use serde::Serialize;

use self::finding::Finding;
use self::kernel::System;
use self::text::Look;
use self::verdict::{Verdict, is_ready, judge};
use crate::canvas;
use crate::failure::Failure;
use crate::stdout::Stdout;

/// Say what this machine can do, and how to get the rest
///
/// Checks the kernel, the caller's privileges, sockets, interfaces, the clock and the disk. Each line is ok,
/// degraded or missing; for the last two it names the affected subcommands and the fix. Programs are loaded,
/// and one is attached, in a separate network namespace; nothing of it remains.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Check only this interface
    #[arg(long, value_name = "INTERFACE")]
    interface: Option<String>,
    /// Check this configuration of any kind (node, host, collector, names, lab) against the machine
    #[arg(long, value_name = "FILE.TOML")]
    config: Option<PathBuf>,
    /// Directory of the history, whose disk is checked
    #[arg(long, value_name = "DIRECTORY", default_value = "inband-data")]
    store: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The whole result, for programs.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    /// Whether everything essential is there.
    ready: bool,
    checks: &'a [Finding],
    commands: &'a [Verdict],
}

/// Checks everything and prints the result; the exit code says whether everything essential is there.
pub(crate) fn run(args: &Args, commands: &[String]) -> Result<ExitCode, Failure> {
    let findings: Vec<_> = look(args)?.into_iter().map(|finding| finding.only_for(commands)).collect();
    let verdicts = judge(commands, &findings);
    let ready = is_ready(&verdicts);
    let text = if args.json {
        let answer = Answer { ready, checks: &findings, commands: &verdicts };
        serde_json::to_string(&answer).context("cannot write JSON")? + "\n"
    } else {
        let colours =
            io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        text::text(&findings, &verdicts, Look { width: canvas::size().0, colours })
    };
    let mut out = Stdout::new();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::from)?;
    Ok(if ready { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn look(args: &Args) -> Result<Vec<Finding>, Failure> {
    let system = System { root: Path::new("/") };
    let effective = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
    let program =
        std::env::current_exe().map_or_else(|_| "inband".to_owned(), |path| path.display().to_string());
    let reasons = inband_host::probe::drop_reasons().map_err(|error| format!("{:#}", Error::from(error)));
    let mut findings = kernel::look(&system, reasons);
    findings.push(privileges::look(geteuid().as_raw(), effective, &program));
    findings.extend(bpf::look());
    findings.extend(sockets::look());
    findings.extend(interfaces::look(&system, args.interface.as_deref()).map_err(Failure::usage)?);
    findings.extend(clock::look(&system));
    findings.extend(backlog::look(&system));
    findings.extend(collector::look(&system, &args.store));
    if let Some(config) = &args.config {
        findings.extend(configuration::look(&system, config)?);
    }
    Ok(findings)
}

const EXAMPLES: &str = "\
Examples:
  inband doctor                            everything, for people
  sudo inband doctor --interface eth1      with the privileges that INT on a host takes
  sudo inband doctor --config host.toml    checks a configuration, and tries the paths to its peers
  inband doctor --json | jq '.checks[] | select(.status != \"ok\")'

Exit codes: 0 nothing is missing that a subcommand cannot work without, 1 something is, 2 usage error.";
