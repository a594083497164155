//! `inband trace`: probes with INT and the D bit, and a line for each hop that handled them.

mod answers;
mod cause;
mod collector;
mod destination;
mod groups;
mod outcome;
mod paths;
mod print;
mod probe;
mod quote;
mod raw;
mod reports;
mod routers;
mod stack;
mod summary;
mod sweep;
mod tuple;

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Error, anyhow};
use inband_model::Flow;

use crate::collector_url::CollectorUrl;
use crate::failure::Failure;
use crate::stdout::Stdout;
use crate::{node_config, out, signals};
use answers::Answers;
use outcome::Outcome;
use probe::Prober;
use raw::Raw;
use reports::Receiver;
use routers::Router;
use stack::Seen;
use summary::Summary;
use sweep::{MAX_TTL, Sweep};

/// INT traceroute: one line for each hop that really handled a packet
///
/// Probes carry INT with the D bit, so the sink discards them and no application sees one. The sink's report
/// arrives through a collector, or at UDP port 32766 of this machine. Additional probes with a small TTL are
/// quoted by the routers where the TTL expires: that shows hops without INT, and where a probe or its mark
/// was lost. It needs root, or CAP_NET_RAW.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The destination's address or name
    #[arg(required_unless_present = "flow")]
    destination: Option<String>,
    /// Source address of the probes
    #[arg(long, value_name = "ADDRESS")]
    source: Option<IpAddr>,
    /// Protocol of the probes
    #[arg(long, value_enum, default_value_t = Protocol::Udp)]
    protocol: Protocol,
    /// Destination port [default: 33434 of UDP, 80 of TCP]
    #[arg(long)]
    port: Option<u16>,
    /// Probes of each flow
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,
    /// Find all paths, with probes of many flows
    #[arg(long, conflicts_with_all = ["flow", "watch"])]
    ecmp: bool,
    /// Probe the path of a connection, such as "tcp 10.0.1.1:40000 > 10.0.2.1:80"
    #[arg(long, value_name = "TUPLE", conflicts_with_all = ["source", "protocol", "port"])]
    flow: Option<String>,
    /// The collector that sinks report to [default: INBAND_COLLECTOR, or one at 127.0.0.1:8080]
    #[arg(long, value_name = "URL")]
    collector: Option<String>,
    /// The collector's token [default: INBAND_TOKEN]
    #[arg(long)]
    token: Option<String>,
    /// A node.toml whose [encapsulation] the probes use
    #[arg(short, long, value_name = "NODE.TOML")]
    config: Option<PathBuf>,
    /// Most hops that may add metadata
    #[arg(long, default_value_t = 16)]
    remaining_hops: u8,
    /// Longest wait for the answers to a probe
    #[arg(long, default_value = "1s", value_parser = humantime::parse_duration)]
    wait: Duration,
    /// Go on, and show the latest probes, until it is stopped
    #[arg(long)]
    watch: bool,
    /// Print one JSON object for each probe, and one for all
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Protocol {
    Udp,
    Tcp,
}

const EXAMPLES: &str = "\
Examples:
  inband trace 10.0.2.1
  inband trace 10.0.2.1 --protocol tcp --port 443 --count 10
  inband trace 10.0.2.1 --ecmp --json
  inband trace --flow 'tcp 10.0.1.1:40000 > 10.0.2.1:80'
  inband lab exec leaf-spine h1 inband trace 10.0.2.1";

/// Traces until all probes are sent, or until it is stopped.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let stop = signals::until_stopped()?;
    let collector = collector(args)?;
    let (flow, _reserved) = flow(args)?;
    let encapsulation = match &args.config {
        None => None,
        Some(path) => Some(node_config::read_parts(path)?.config.encapsulation),
    };
    let prober = Prober::new(encapsulation.clone(), args.remaining_hops).map_err(Failure::Usage)?;
    prober.packet(flow, FULL_TTL, 1).map_err(Failure::Usage)?;
    let raw = Raw::open(flow.destination, encapsulation.clone())
        .with_context(|| "cannot send probes: it needs root, or CAP_NET_RAW".to_owned())?;
    let token = args.token.clone().or_else(|| std::env::var("INBAND_TOKEN").ok());
    let receiver = Receiver::open(collector, token, encapsulation, args.wait)?;
    let mut trace = Trace { args, prober, raw, receiver, sent: 0, sweeps: Vec::new() };
    trace.receiver.announce();
    if args.watch { watch(&mut trace, flow, &stop) } else { once(&mut trace, flow, &stop) }
}

fn once(trace: &mut Trace<'_>, flow: Flow, stop: &AtomicBool) -> Result<(), Failure> {
    let args = trace.args;
    let results =
        if args.ecmp { trace.all_paths(flow, stop)? } else { trace.one_flow(flow, args.count, stop)? };
    let routers = trace.routers(&results)?;
    let text = if args.json {
        let lines = results.iter().map(print::json).collect::<Result<String, _>>()?;
        lines + &print::json_summary(&Summary::of(&results), Some(&routers))
    } else {
        print::text(&results, &routers, args.ecmp)
    };
    let printed = out::print(&text);
    let has_answer = results.iter().any(|result| result.seen.is_answer());
    // Whether anyone reads the trace does not change its outcome.
    if has_answer { printed } else { Err(Failure::Work(anyhow!("no hop with INT answered"))) }
}

/// Sends a probe each second until it is stopped; as JSON, prints each of them, and all of them at the end.
fn watch(trace: &mut Trace<'_>, flow: Flow, stop: &AtomicBool) -> Result<(), Failure> {
    let (mut all, mut summary) = (Vec::new(), Summary::default());
    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        for result in trace.one_flow(flow, 1, stop)? {
            summary.add(&result);
            if trace.args.json {
                out::print(&print::json(&result)?)?;
            }
            all.push(result);
        }
        // Old probes make room for new ones.
        let first = all.len().saturating_sub(MAX_WATCHED);
        all.drain(..first);
        if !trace.args.json {
            out::print(&print::next(&print::text(&all, &[], false), Stdout::new().is_terminal()))?;
        }
        while began.elapsed() < WATCH_EVERY && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(STEP);
        }
    }
    if trace.args.json { out::print(&print::json_summary(&summary, None)) } else { Ok(()) }
}

struct Trace<'a> {
    args: &'a Args,
    prober: Prober,
    raw: Raw,
    receiver: Receiver,
    sent: u32,
    /// The searches for the routers of flows whose probes were lost.
    sweeps: Vec<(Flow, Sweep)>,
}

impl Trace<'_> {
    /// Sends probes of one flow, one after another.
    fn one_flow(&mut self, flow: Flow, count: u32, stop: &AtomicBool) -> Result<Vec<Outcome>, Error> {
        if self.sweep_of(flow).is_some() {
            // The reports about its probes would be taken for those about the next one.
            self.receiver.settle(flow, self.args.wait)?;
            self.sweeps.clear();
        }
        let mut answers = Vec::new();
        for _ in 0..count {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            self.sent += 1;
            answers.push((self.sent, self.probe(flow)?));
        }
        // One search for all lost probes, behind the last: its own probes have the same flow.
        let is_lost = answers.iter().any(|(_, seen)| seen.is_none());
        let explanation = if is_lost { Some(self.explain(flow)?) } else { None };
        let outcome = |(number, seen): (_, Option<Seen>)| {
            seen.or(explanation.clone()).map(|seen| Outcome { number, flow, seen })
        };
        Ok(answers.into_iter().filter_map(outcome).collect())
    }

    /// Sends probes of as many flows as it takes to find every path with near certainty.
    fn all_paths(&mut self, flow: Flow, stop: &AtomicBool) -> Result<Vec<Outcome>, Error> {
        let mut results: Vec<Outcome> = Vec::new();
        let mut found = Vec::new();
        let mut flows = 0;
        while flows < paths::flows_needed(found.len()) && !stop.load(Ordering::Relaxed) {
            // Source ports at a fixed step: a hash spreads them as well as random ones.
            let source_port = 33_000 + (flow.source_port % 16_000) + flows * 7;
            let outcomes = self.one_flow(Flow { source_port, ..flow }, self.args.count, stop)?;
            for outcome in outcomes {
                let path = outcome.seen.path();
                if outcome.seen.has_path() && !found.contains(&path) {
                    found.push(path);
                }
                results.push(outcome);
            }
            flows += 1;
        }
        Ok(results)
    }

    /// Sends one probe and waits for its report and, if it was dropped, for the message of the router that
    /// dropped it; `None`: neither has come.
    fn probe(&mut self, flow: Flow) -> Result<Option<Seen>, Error> {
        self.raw.drain();
        let mark = self.receiver.mark(flow)?;
        let number = self.raw.send(&self.prober, flow, FULL_TTL)?;
        let until = Instant::now() + self.args.wait;
        let mut answers = Answers::default();
        loop {
            let is_late = Instant::now() >= until;
            if !answers.has_report()
                && let Some(seen) = self.receiver.look((flow, number), &mark, self.args.remaining_hops)?
            {
                answers.add_report(seen);
            }
            for quote in self.raw.quotes(flow).into_iter().filter(|quote| quote.number == number) {
                answers.add_quote(quote);
            }
            if is_late || answers.are_complete(self.receiver.is_open()) {
                break;
            }
            std::thread::sleep(STEP);
        }
        let seen = answers.seen(flow.destination, FULL_TTL);
        Ok(seen.map(|seen| self.named(seen)))
    }

    /// Finds the last place where probes of a flow are seen.
    fn explain(&mut self, flow: Flow) -> Result<Seen, Error> {
        let sweep = Sweep::run(&mut self.raw, &self.prober, flow, MAX_TTL, self.args.wait)?;
        let seen = self.named(sweep.explanation(flow.destination));
        self.sweeps.push((flow, sweep));
        Ok(seen)
    }

    /// The routers on the path of the first probe's flow.
    fn routers(&mut self, results: &[Outcome]) -> Result<Vec<Router>, Error> {
        let Some(flow) = results.first().map(|first| first.flow) else { return Ok(Vec::new()) };
        let seen = || results.iter().filter(|result| result.flow == flow).map(|result| &result.seen);
        if let Some(sweep) = self.sweep_of(flow) {
            return Ok(routers::routers(&sweep.routers(), seen()));
        }
        // Probes that come no farther than the others would only use up the messages that routers send.
        let distances: Option<Vec<u8>> = seen().map(|seen| seen.distance).collect();
        let most = distances.and_then(|distances| distances.into_iter().max()).unwrap_or(MAX_TTL);
        let sweep = Sweep::run(&mut self.raw, &self.prober, flow, most, self.args.wait)?;
        Ok(routers::routers(&sweep.routers(), seen()))
    }

    fn sweep_of(&self, flow: Flow) -> Option<&Sweep> {
        self.sweeps.iter().find(|(other, _)| *other == flow).map(|(_, sweep)| sweep)
    }

    /// With the names of hops that come from quotes.
    fn named(&self, mut seen: Seen) -> Seen {
        if seen.at.is_some() {
            self.receiver.name(&mut seen.hops);
        }
        seen
    }
}

/// The collector that was named, if one was; an empty variable names none.
fn collector(args: &Args) -> Result<Option<CollectorUrl>, Failure> {
    let variable = || std::env::var("INBAND_COLLECTOR").ok().filter(|url| !url.is_empty());
    let named = args.collector.clone().or_else(variable);
    named.map(|url| url.parse().map_err(Failure::usage)).transpose()
}

/// The flow of the probes; the socket reserves its source port.
fn flow(args: &Args) -> Result<(Flow, Option<UdpSocket>), Failure> {
    if let Some(tuple) = &args.flow {
        let flow = tuple::parse(tuple).map_err(Failure::usage)?;
        if let Some(name) = &args.destination
            && !destination::addresses(name)?.contains(&flow.destination)
        {
            let message = format!("`{name}` is not the destination of `{tuple}`");
            return Err(Failure::usage(message));
        }
        return Ok((flow, None));
    }
    let name = args.destination.as_deref().unwrap_or_default();
    let destination = destination::resolve(name, args.source)?;
    let (protocol, port) = match args.protocol {
        Protocol::Udp => (17, args.port.unwrap_or(UDP_PORT)),
        Protocol::Tcp => (6, args.port.unwrap_or(80)),
    };
    let any: IpAddr = match destination {
        IpAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let from = SocketAddr::new(args.source.unwrap_or(any), 0);
    let socket =
        UdpSocket::bind(from).with_context(|| format!("{} is no address of this machine", from.ip()));
    let socket = socket.map_err(Failure::Usage)?;
    let connected = socket.connect(SocketAddr::new(destination, port));
    connected.map_err(|error| destination::unreachable(destination, error))?;
    let own = socket.local_addr().context("cannot choose a source address")?;
    destination::check(destination, own.ip())?;
    let flow =
        Flow { source: own.ip(), destination, protocol, source_port: own.port(), destination_port: port };
    Ok((flow, Some(socket)))
}

const FULL_TTL: u8 = 64;
/// Traceroute's port.
const UDP_PORT: u16 = 33434;
const STEP: Duration = Duration::from_millis(10);
const WATCH_EVERY: Duration = Duration::from_secs(1);
/// Most probes that `--watch` shows.
const MAX_WATCHED: usize = 100;

#[cfg(test)]
mod tests;
