//! Resolution of names into positions: nodes, their ids, and the interfaces at the ends of links.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use toml::Spanned;

use super::names;
use super::parts::{Interface, Kind, Link, Node, Plan};
use super::settings;
use crate::topology::{CollectorConfig, LinkConfig, Mistake, SwitchConfig, SwitchTables, Topology, unknown};

/// The plan without segments and addresses.
pub(super) fn resolve(topology: &Topology) -> Result<Plan, Mistake> {
    let name = topology.name.get_ref();
    if let Some(fault) = names::fault(name) {
        return Err(Mistake::at(topology.name.span(), fault));
    }
    let api = api(&topology.collector)?;
    check_ids(topology)?;
    let nodes = nodes(topology)?;
    let mut plan = Plan { name: name.clone(), api, nodes, links: Vec::new(), segments: Vec::new() };
    connect(&mut plan, topology)?;
    check_links(&plan, topology)?;
    settings::check(&plan, topology)?;
    Ok(plan)
}

/// Checks the number of links of each node.
fn check_links(plan: &Plan, topology: &Topology) -> Result<(), Mistake> {
    for (node, switch) in plan.nodes.iter().zip(&topology.switches) {
        let links = node.interfaces.len();
        if links < 2 && switch.int {
            let links = if links == 1 { "1 link".to_owned() } else { format!("{links} links") };
            let message = format!("switch `{}` has {links}; a switch with INT has at least two", node.name);
            return Err(Mistake::at(switch.name.span(), message));
        }
    }
    for (node, host) in plan.nodes.iter().skip(topology.switches.len()).zip(&topology.hosts) {
        if node.interfaces.len() != 1 {
            let links = node.interfaces.len();
            let message = format!("host `{}` has {links} links; a host has one", node.name);
            return Err(Mistake::at(host.name.span(), message));
        }
    }
    Ok(())
}

/// The address of the API outside of the lab: only of this machine, since the lab's API has no token.
fn api(collector: &CollectorConfig) -> Result<SocketAddr, Mistake> {
    let text = collector.api_address();
    let mistake = |what: &str| Mistake {
        span: collector.api.as_ref().map(Spanned::span),
        message: format!("`{text}` {what}, such as `127.0.0.1:8080`"),
    };
    let api: SocketAddr = text.parse().map_err(|_| mistake("is not an address with its port"))?;
    if !api.ip().is_loopback() {
        return Err(mistake(
            "is reachable from other machines, and a lab's API has no token: use a loopback address",
        ));
    }
    if api.port() == 0 {
        return Err(mistake("has no port: use a fixed one"));
    }
    Ok(api)
}

/// Refuses an `id` in a `[node]` table, which would replace those that are planned.
fn check_ids(topology: &Topology) -> Result<(), Mistake> {
    let defaults = [&topology.defaults.switch.node, &topology.defaults.host.node];
    let switches = topology.switches.iter().map(|switch| &switch.node);
    let hosts = topology.hosts.iter().map(|host| &host.node);
    let all = defaults.into_iter().chain(switches).chain(hosts).flatten();
    if let Some(node) = all.into_iter().find(|node| node.get_ref().contains_key("id")) {
        let message = "the `id` of a node is a key of its [[switch]] or [[host]]: each has its own";
        return Err(Mistake::at(node.span(), message));
    }
    Ok(())
}

fn nodes(topology: &Topology) -> Result<Vec<Node>, Mistake> {
    let switches = topology.switches.iter().map(|switch| (&switch.name, &switch.id, switch.int));
    let hosts = topology.hosts.iter().map(|host| (&host.name, &host.id, host.int));
    let mut seen = BTreeSet::new();
    let mut ids = BTreeMap::new();
    for (name, id, _) in switches.clone().chain(hosts.clone()) {
        if let Some(fault) = names::fault(name.get_ref()) {
            return Err(Mistake::at(name.span(), fault));
        }
        if !seen.insert(name.get_ref()) {
            let message = format!(
                "the name `{}` is in use: hosts and switches have names of their own",
                name.get_ref()
            );
            return Err(Mistake::at(name.span(), message));
        }
        if let Some(id) = id
            && let Some(other) = ids.insert(*id.get_ref(), name.get_ref().clone())
        {
            let message = format!("node id {} is in use by `{other}`", id.get_ref());
            return Err(Mistake::at(id.span(), message));
        }
    }
    let mut next = 1;
    let mut nodes = Vec::new();
    for (at, (name, id, int)) in switches.chain(hosts).enumerate() {
        let id = match id {
            _ if !int => None,
            Some(id) => Some(*id.get_ref()),
            None => {
                while ids.contains_key(&next) {
                    next += 1;
                }
                ids.insert(next, name.get_ref().clone());
                Some(next)
            }
        };
        let (kind, run) = match topology.switches.get(at) {
            Some(switch) => (kind(&topology.defaults.switch, switch), &switch.run),
            None => (Kind::Host, &topology.hosts[at - topology.switches.len()].run),
        };
        let (name, run) = (name.get_ref().clone(), run.clone());
        nodes.push(Node { name, kind, id, interfaces: Vec::new(), run });
    }
    Ok(nodes)
}

/// The kind of a switch.
fn kind(defaults: &SwitchTables, switch: &SwitchConfig) -> Kind {
    let key = |key: &str| {
        [switch.tables(), defaults.tables()]
            .iter()
            .find_map(|tables| tables.get("switch")?.get(key)?.as_str().map(str::to_owned))
    };
    let engine = switch.int && key("datapath").as_deref() != Some("kernel");
    match key("forwarding").as_deref() {
        Some("learn") => Kind::Bridge { engine },
        _ if engine => Kind::Engine,
        _ => Kind::Kernel,
    }
}

fn connect(plan: &mut Plan, topology: &Topology) -> Result<(), Mistake> {
    let mut ends = Vec::new();
    for link in &topology.links {
        ends.push(ends_of(plan, link)?);
    }
    // Interface ids in the file are kept; the others get free ones.
    let mut used: BTreeSet<(usize, u16)> = BTreeSet::new();
    for (link, ends) in topology.links.iter().zip(&ends) {
        for (node, id) in ends {
            if let Some(id) = id
                && !used.insert((*node, *id))
            {
                let message = format!("interface {id} of `{}` has a link already", plan.nodes[*node].name);
                return Err(Mistake::at(link.ends.span(), message));
            }
        }
    }
    for (at, (link, ends)) in topology.links.iter().zip(ends).enumerate() {
        let ends = ends.map(|(node, id)| {
            let id = id
                .unwrap_or_else(|| (1..u16::MAX).find(|id| !used.contains(&(node, *id))).unwrap_or(u16::MAX));
            used.insert((node, id));
            (node, id)
        });
        let [a, b] = ends;
        for ((node, id), (peer, _)) in [(a, b), (b, a)] {
            let faces = |node: usize| plan.nodes[node].kind == Kind::Host && plan.nodes[node].id.is_none();
            let device = match plan.nodes[node].kind {
                Kind::Host => "eth0".to_owned(),
                _ => format!("eth{id}"),
            };
            let plain = faces(node) || faces(peer);
            let interface = Interface {
                id,
                device,
                link: at,
                peer,
                edge: faces(peer) && plan.nodes[node].kind != Kind::Host,
                mtu: if plain { HOST_MTU } else { FABRIC_MTU },
                addresses: Vec::new(),
            };
            plan.nodes[node].interfaces.push(interface);
        }
        plan.links.push(properties(topology, link, ends)?);
    }
    for node in &mut plan.nodes {
        node.interfaces.sort_by_key(|interface| interface.id);
    }
    Ok(())
}

fn ends_of(plan: &Plan, link: &LinkConfig) -> Result<[(usize, Option<u16>); 2], Mistake> {
    let wrong = |message: String| Mistake::at(link.ends.span(), message);
    let mut ends = Vec::new();
    for text in link.ends.get_ref() {
        let (name, id) = match text.split_once(':') {
            None => (text.as_str(), None),
            Some((name, id)) => {
                let id = id.parse().ok().filter(|id| *id != 0 && *id != u16::MAX);
                let fault = || wrong(format!("`{text}` is not `name:interface id`, an id of 1 to 65534"));
                (name, Some(id.ok_or_else(fault)?))
            }
        };
        let known = plan.nodes.iter().map(|node| node.name.as_str());
        let node = plan.node(name).ok_or_else(|| wrong(unknown("host or switch", name, known)))?;
        if plan.nodes[node].kind == Kind::Host && id.is_some_and(|id| id != HOST_INTERFACE) {
            return Err(wrong(format!("the only interface of host `{name}` has the id {HOST_INTERFACE}")));
        }
        ends.push((node, id));
    }
    match ends[..] {
        [a, b] if a.0 != b.0 => Ok([a, b]),
        [_, _] => Err(wrong("both ends of the link are the same".into())),
        _ => Err(wrong("a link has two ends".into())),
    }
}

fn properties(topology: &Topology, link: &LinkConfig, ends: [(usize, u16); 2]) -> Result<Link, Mistake> {
    let defaults = &topology.defaults.link;
    let loss = link.loss.as_ref().map(|loss| *loss.get_ref()).or(defaults.loss).unwrap_or(0.0);
    let delay = link.delay.or(defaults.delay).unwrap_or_default();
    let queue_bytes = link.queue_bytes.or(defaults.queue_bytes).unwrap_or(QUEUE_BYTES);
    let span = link.loss.as_ref().map_or(link.ends.span(), Spanned::span);
    if !(0.0..=1.0).contains(&loss) {
        return Err(Mistake::at(span, "`loss` is a share, 0 to 1"));
    }
    if delay.0 > MAX_DELAY {
        return Err(Mistake::at(link.ends.span(), "the link's `delay` is more than 10 seconds"));
    }
    if queue_bytes < MIN_QUEUE_BYTES {
        let message = format!("the link's `queue_bytes` hold no packet: at least {MIN_QUEUE_BYTES}");
        return Err(Mistake::at(link.ends.span(), message));
    }
    Ok(Link { ends, rate: link.rate.or(defaults.rate).unwrap_or_default(), queue_bytes, delay, loss })
}

/// The id of a host's interface.
const HOST_INTERFACE: u16 = 1;
/// The MTU of interfaces to hosts without INT, bytes: the usual one.
const HOST_MTU: u32 = 1500;
/// The MTU of interfaces inside the domain, bytes: a host's packet and INT of eight hops.
const FABRIC_MTU: u32 = 2000;
/// The default of queued bytes.
const QUEUE_BYTES: u32 = 1_000_000;
/// One packet of the fabric.
const MIN_QUEUE_BYTES: u32 = 2048;
const MAX_DELAY: std::time::Duration = std::time::Duration::from_secs(10);
