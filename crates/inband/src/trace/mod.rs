//! `inband trace`: probes with INT and the D bit, and a line for each hop that handled them.

mod cause;
mod collector;
mod destination;
mod outcome;
mod paths;
mod print;
mod probe;
mod raw;
mod reports;
mod stack;
mod summary;
mod tuple;

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Error, anyhow};
use inband_model::Flow;

use crate::collector_url::CollectorUrl;
use crate::failure::Failure;
use crate::{node_config, out, signals};
use cause::Cause;
use outcome::Outcome;
use probe::Prober;
use raw::{Quote, Raw};
use reports::Receiver;
use stack::{Ended, Hop, Seen};
use summary::Summary;

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
    /// Longest wait for a report
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
    let mut trace = Trace { args, prober, raw, receiver, sent: 0 };
    trace.receiver.announce();
    if args.watch { watch(&mut trace, flow, &stop) } else { once(&mut trace, flow, &stop) }
}

fn once(trace: &mut Trace<'_>, flow: Flow, stop: &AtomicBool) -> Result<(), Failure> {
    let args = trace.args;
    let results =
        if args.ecmp { trace.all_paths(flow, stop)? } else { trace.one_flow(flow, args.count, stop)? };
    let text = if args.json {
        let lines = results.iter().map(print::json).collect::<Result<String, _>>()?;
        lines + &print::json_summary(&Summary::of(&results))
    } else {
        print::text(&results, &trace.routers(flow)?, args.ecmp)
    };
    let printed = out::print(&text);
    let has_answer = results.iter().any(|result| !result.seen.hops.is_empty());
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
            out::print(&format!("\x1b[H\x1b[2J{}", print::text(&all, &[], false)))?;
        }
        while began.elapsed() < WATCH_EVERY && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(STEP);
        }
    }
    if trace.args.json { out::print(&print::json_summary(&summary)) } else { Ok(()) }
}

struct Trace<'a> {
    args: &'a Args,
    prober: Prober,
    raw: Raw,
    receiver: Receiver,
    sent: u32,
}

impl Trace<'_> {
    /// Sends probes of one flow, one after another.
    fn one_flow(&mut self, flow: Flow, count: u32, stop: &AtomicBool) -> Result<Vec<Outcome>, Error> {
        let mut results = Vec::new();
        for _ in 0..count {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            self.sent += 1;
            let seen = self.probe(flow)?;
            results.push(Outcome { number: self.sent, flow, seen });
        }
        Ok(results)
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
                if !path.is_empty() && !found.contains(&path) {
                    found.push(path);
                }
                results.push(outcome);
            }
            flows += 1;
        }
        Ok(results)
    }

    /// Sends one probe and waits for its report; without one, finds out why.
    fn probe(&mut self, flow: Flow) -> Result<Seen, Error> {
        self.raw.drain();
        let mark = self.receiver.mark(flow)?;
        let number = self.raw.send(&self.prober, flow, FULL_TTL)?;
        let until = Instant::now() + self.args.wait;
        loop {
            if let Some(seen) = self.receiver.look((flow, number), &mark, self.args.remaining_hops)? {
                return Ok(seen);
            }
            for quote in self.raw.quotes(flow) {
                if quote.number == number && quote.cause != Cause::TimeExceeded {
                    // The quote comes from the destination, or from a router that does not forward: INT was
                    // not removed.
                    let (ended, reason) = (quote.ended(flow.destination), quote.reason());
                    let (hops, at) = (self.named(quote.hops), Some(quote.from));
                    return Ok(Seen { hops, ended, at, reason });
                }
            }
            if Instant::now() >= until {
                break;
            }
            std::thread::sleep(STEP);
        }
        self.explain(flow)
    }

    /// Finds the last place where a probe was seen.
    fn explain(&mut self, flow: Flow) -> Result<Seen, Error> {
        let routers = self.routers(flow)?;
        let Some(last) = routers.iter().rev().find_map(Option::as_ref) else {
            return Ok(Seen { hops: Vec::new(), ended: Ended::Lost, at: None, reason: None });
        };
        let ended = if last.is_marked { Ended::Lost } else { Ended::MarkCleared };
        let (hops, at) = (last.hops.clone(), Some(last.from));
        Ok(Seen { hops: self.named(hops), ended, at, reason: None })
    }

    /// The routers that quote probes whose TTL expires on the path, by TTL from 1 on.
    fn routers(&mut self, flow: Flow) -> Result<Vec<Option<Quote>>, Error> {
        self.raw.drain();
        let mut numbers = Vec::new();
        for ttl in 1..=MAX_TTL {
            numbers.push(self.raw.send(&self.prober, flow, ttl)?);
        }
        let mut routers: Vec<Option<Quote>> = numbers.iter().map(|_| None).collect();
        let until = Instant::now() + self.args.wait.min(MAX_SWEEP);
        while Instant::now() < until {
            for quote in self.raw.quotes(flow) {
                let place = numbers.iter().position(|number| *number == quote.number);
                if let Some(router) = place.and_then(|place| routers.get_mut(place))
                    && quote.cause == Cause::TimeExceeded
                {
                    *router = Some(quote);
                }
            }
            std::thread::sleep(STEP);
        }
        let last = routers.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        routers.truncate(last);
        Ok(routers)
    }

    fn named(&self, mut hops: Vec<Hop>) -> Vec<Hop> {
        self.receiver.name(&mut hops);
        hops
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
/// Largest TTL of the probes that routers should quote.
const MAX_TTL: u8 = 16;
/// Traceroute's port.
const UDP_PORT: u16 = 33434;
const STEP: Duration = Duration::from_millis(10);
const MAX_SWEEP: Duration = Duration::from_millis(500);
const WATCH_EVERY: Duration = Duration::from_secs(1);
/// Most probes that `--watch` shows.
const MAX_WATCHED: usize = 100;

#[cfg(test)]
mod tests;
