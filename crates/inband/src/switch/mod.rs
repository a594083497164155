//! `inband switch`: one INT node on live interfaces.

mod metrics;
mod serve;

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Error};
use inband::config::ConfigFile;
use inband_node::NodeConfig;
use inband_node::config::{Datapath, InterfaceConfig};
use inband_switch::{LiveSwitch, PortStatus, Status, SwitchError};
use signal_hook::consts::SIGHUP;

use crate::failure::Failure;
use crate::note::note;
use crate::signals;

/// Run one INT node on live interfaces: a switch that is source, transit hop and sink
///
/// With `datapath = "kernel"` Linux forwards, and programs on the interfaces do INT on the way. With
/// `"engine"` the program forwards between the interfaces of its configuration, in the network namespace it
/// is started in, as a bridge, a router or by a table; each packet passes its own egress queues and the
/// engine. SIGHUP makes it read its configuration again; SIGINT or SIGTERM ends it. The interfaces are
/// restored, however it ends. It needs root, or CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF, CAP_PERFMON and, for
/// AF_XDP, CAP_IPC_LOCK; from root it keeps only these.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Configuration of the node
    #[arg(short, long, value_name = "NODE.TOML")]
    config: PathBuf,
    /// Print the state as one JSON object on stdout, every second and at the end
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  inband switch -c node.toml
  ip netns exec leaf1 inband switch -c leaf1.toml --json

A smallest node.toml:
  node.id = 1
  switch.datapath = \"engine\"
  [[interface]]
  id = 1
  device = \"eth1\"
  [[interface]]
  id = 2
  device = \"eth2\"";

/// How often the state is published.
const SHOWN_EVERY: Duration = Duration::from_millis(100);
const PRINTED_EVERY: Duration = Duration::from_secs(1);

/// Runs the switch until it is stopped.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (file, config) = read(&args.config)?;
    let metrics = inband_switch::metrics_address(&config).map_err(|error| failure(&file, error))?;
    let bind = |address: SocketAddr| {
        TcpListener::bind(address).with_context(|| format!("cannot serve metrics at {address}"))
    };
    let metrics = metrics.map(bind).transpose()?;
    inband_switch::keep_needed().context("cannot give up privileges")?;
    let stop = signals::until_stopped()?;
    let reload = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGHUP, Arc::clone(&reload)).context("cannot catch signals")?;
    let mut switch = LiveSwitch::start(&config).map_err(|error| failure(&file, error))?;
    let shown = Arc::new(Mutex::new(switch.status()));
    if let Some(listener) = metrics {
        serve::start(listener, Arc::clone(&shown)).context("cannot serve metrics")?;
    }
    announce(&config, &switch.status());
    let ended = forward(args, &file, &mut switch, (&stop, &reload), &shown);
    // After an error as well, every packet is accounted for.
    switch.finish();
    let status = switch.status();
    let printed = if args.json {
        print(&status).map(drop)
    } else {
        summarize(&status);
        Ok(())
    };
    ended.and(printed)
}

/// Forwards packets until a signal ends the program, and publishes the state.
fn forward(
    args: &Args,
    file: &ConfigFile,
    switch: &mut LiveSwitch,
    (stop, reload): (&AtomicBool, &AtomicBool),
    shown: &Mutex<Status>,
) -> Result<(), Failure> {
    let (mut shown_at, mut printed_at) = (Instant::now(), Instant::now());
    let mut is_printing = args.json;
    let mut absent = BTreeMap::new();
    while !stop.load(Ordering::Relaxed) {
        if reload.swap(false, Ordering::Relaxed) {
            take_over(&args.config, switch);
        }
        switch.step().map_err(|error| failure(file, error))?;
        if shown_at.elapsed() >= SHOWN_EVERY {
            shown_at = Instant::now();
            let status = switch.status();
            note_absences(&absent, &status);
            absent = absences(&status);
            if is_printing && printed_at.elapsed() >= PRINTED_EVERY {
                printed_at = Instant::now();
                is_printing = print(&status)?;
            }
            *shown.lock().unwrap_or_else(PoisonError::into_inner) = status;
        }
    }
    Ok(())
}

/// The devices that are not in use, and why.
fn absences(status: &Status) -> BTreeMap<String, String> {
    let absence = |port: &PortStatus| Some((port.device.clone(), port.absence.clone()?));
    status.interfaces.iter().filter_map(absence).collect()
}

/// Notes which devices have disappeared and come back since `before`.
fn note_absences(before: &BTreeMap<String, String>, status: &Status) {
    for port in &status.interfaces {
        match (before.get(&port.device), &port.absence) {
            (Some(known), Some(absence)) if known == absence => {}
            (_, Some(absence)) => note!("{} is not in use: {absence}", port.device),
            (Some(_), None) => note!("{} is back", port.device),
            (None, None) => {}
        }
    }
}

fn read(path: &Path) -> Result<(ConfigFile, NodeConfig), Failure> {
    let file = ConfigFile::read(path)?;
    let config = file.parse()?;
    Ok((file, config))
}

/// An error in the configuration names its place in the file.
fn failure(file: &ConfigFile, error: SwitchError) -> Failure {
    match error.place() {
        Some(place) => file.mistake_at(&place, &error.to_string()).into(),
        None if error.is_forbidden() => Failure::Work(Error::new(error).context(PRIVILEGES)),
        None => Failure::Work(error.into()),
    }
}

const PRIVILEGES: &str = "a switch needs root, or CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF, CAP_PERFMON and, for \
    AF_XDP, CAP_IPC_LOCK";

/// Applies the file as it is; if it has an error, the switch keeps its configuration.
fn take_over(path: &Path, switch: &mut LiveSwitch) {
    let result =
        read(path).and_then(|(file, config)| switch.reload(&config).map_err(|error| failure(&file, error)));
    match result {
        Ok(()) => note!("took over {}", path.display()),
        Err(Failure::Usage(error) | Failure::Work(error) | Failure::Damaged(error)) => {
            note!("error: {error:#}\nthe switch goes on as it was");
        }
    }
}

fn announce(config: &NodeConfig, status: &Status) {
    let names: Vec<_> =
        config.interfaces.iter().filter_map(|interface| interface.device.as_deref()).collect();
    let (id, names) = (config.node.id, names.join(", "));
    if config.switch.datapath == Datapath::Kernel {
        note!("Linux forwards between {names}; programs at TCX do INT as node {id}");
        let usual = InterfaceConfig::new(0);
        if let Some(interface) = config
            .interfaces
            .iter()
            .find(|interface| interface.rate != usual.rate || interface.queue_bytes != usual.queue_bytes)
        {
            let id = interface.id;
            note!(
                "note: `rate` and `queue_bytes` (interface {id}) are for the engine; the device's qdisc decides"
            );
        }
        if status.drop_reasons != "on" {
            note!("drops of Linux are not reported, {}", status.drop_reasons);
        }
        for (device, words) in &status.xdp {
            note!("INT-MD in transit past the stack by XDP, {device}: {words}");
        }
        return;
    }
    let forwarding = format!("{:?}", config.switch.forwarding).to_lowercase();
    note!("node {id} forwards between {names} by {forwarding}");
    for (device, words) in &status.frames {
        note!("frames of {device} by {words}");
    }
}

/// Prints the state; returns whether somebody reads it: packets are forwarded all the same.
fn print(status: &Status) -> Result<bool, Failure> {
    let line = serde_json::to_string(status).context("cannot write the state")?;
    match writeln!(std::io::stdout().lock(), "{line}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        written => Ok(written.map(|()| true).context("cannot write the output")?),
    }
}

fn summarize(status: &Status) {
    for port in &status.interfaces {
        note!("{}: {} received, {} sent", port.device, port.received_packets, port.sent_packets);
        for (count, what) in [
            (port.to_host, "to the machine itself"),
            (port.receive_losses, "not received: they came faster than they were read"),
        ] {
            if count > 0 {
                note!("{}: {count} {what}", port.device);
            }
        }
        for (cause, count) in &port.drops {
            note!("{}: {count} dropped: {cause}", port.device);
        }
    }
    for (device, reasons) in &status.kernel_drops {
        for (reason, count) in reasons {
            note!("{device}: {count} dropped by Linux: {reason}");
        }
    }
    for (outcome, count) in status.outcomes.iter().filter(|(_, count)| **count > 0) {
        note!("{count:>10} {outcome}");
    }
    for (outcome, count) in &status.reports {
        note!("{count:>10} reports {outcome}");
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::path::Path;

    use inband::config::ConfigFile;
    use inband_switch::SwitchError;

    use super::failure;
    use crate::failure::Failure;

    #[test]
    fn a_missing_privilege_is_named_and_the_system_s_error_once() {
        let file = ConfigFile::of_text(Path::new("node.toml"), "");
        let message = |kind: ErrorKind| {
            let error = SwitchError::System { what: "list the devices".into(), reason: kind.into() };
            let Failure::Work(error) = failure(&file, error) else { panic!("not a mistake in the file") };
            format!("{error:#}")
        };

        assert_eq!(
            message(ErrorKind::PermissionDenied),
            "a switch needs root, or CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF, CAP_PERFMON and, for AF_XDP, \
             CAP_IPC_LOCK: cannot list the devices: permission denied"
        );
        assert_eq!(message(ErrorKind::NotFound), "cannot list the devices: entity not found");
    }
}
