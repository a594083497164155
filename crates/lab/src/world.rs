//! Realization of a plan with namespaces, devices, addresses and routes.

mod queue;
mod silence;

use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use inband_linux::address::Address;
use inband_linux::device;
use inband_linux::ethtool::{self, Offload};
use inband_linux::namespace::{self, Namespace};
use inband_linux::netlink::Netlink;
use inband_linux::route::{NextHop, Route};
use inband_linux::veth::{self, End};

use crate::error::LabError;
use crate::plan::{Interface, Kind, Plan, Routes, Target, management};
use crate::topology::{DropReason, Fault};

/// The names of all namespaces of the lab.
#[must_use]
pub(crate) fn namespaces(plan: &Plan) -> Vec<String> {
    namespace_parts(plan).map(|part| plan.namespace(part)).collect()
}

/// The parts of a lab with a namespace.
fn namespace_parts(plan: &Plan) -> impl Iterator<Item = &str> {
    ["collector", "links"].into_iter().chain(plan.nodes.iter().map(|node| node.name.as_str()))
}

/// The devices of a relayed link in the namespace of links.
#[must_use]
pub(crate) fn relay_devices(link: usize) -> [String; 2] {
    [format!("l{link}a"), format!("l{link}b")]
}

/// Creates the namespaces with their devices, addresses and routes.
///
/// # Errors
/// An error of the kernel; `stop` was set.
pub(crate) fn create(plan: &Plan, stop: &AtomicBool) -> Result<(), LabError> {
    for name in namespaces(plan) {
        LabError::if_stopped(stop)?;
        let failed = || LabError::kernel(format!("cannot create the namespace {name}"));
        let namespace = Namespace::create(&name).map_err(failed())?;
        namespace.inside(|| prepare(plan, &name)).and_then(|done| done).map_err(failed())?;
    }
    connect(plan).map_err(LabError::kernel("cannot create the links"))?;
    for at in 0..plan.nodes.len() {
        LabError::if_stopped(stop)?;
        let what = format!("cannot set up `{}`", plan.nodes[at].name);
        inside(plan, &plan.nodes[at].name, |netlink| set_up(plan, at, netlink))
            .map_err(LabError::kernel(what))?;
    }
    for part in ["collector", "links"] {
        inside(plan, part, all_up).map_err(LabError::kernel(format!("cannot set up {part}")))?;
    }
    apply(plan, &[], None)?;
    for part in namespace_parts(plan) {
        LabError::if_stopped(stop)?;
        inside(plan, part, await_devices)
            .map_err(LabError::kernel(format!("the links of `{part}` do not come up")))?;
    }
    Ok(())
}

/// Waits until the kernel accepts packets for every device, and its bridges forward by them.
fn await_devices(netlink: &mut Netlink) -> io::Result<()> {
    // Devices that are down belong to the kernel, such as `gre0`.
    let links = device::all(netlink)?.into_iter().filter(|device| device.is_running && device.name != "lo");
    let links: Vec<_> = links.map(|device| device.index).collect();
    if device::await_operational(netlink, &links, MAX_WAIT)? {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "a device is not operational"))
}

/// Removes the namespaces, and everything in them.
///
/// # Errors
/// The kernel's error about the last of those that remain.
pub(crate) fn remove(namespaces: &[String]) -> Result<(), LabError> {
    let mut result = Ok(());
    for name in namespaces {
        let removed = namespace::delete(name);
        result = result.and(removed.map_err(LabError::kernel(format!("cannot remove the namespace {name}"))));
    }
    result
}

/// Changes devices and routes from the faults `before` to `now`; `None`: from the start. An error at one node
/// leaves the others changed.
///
/// # Errors
/// The kernel's error about the first node that could not be changed.
pub(crate) fn apply(plan: &Plan, now: &[Fault], before: Option<&[Fault]>) -> Result<(), LabError> {
    let mut result = Ok(());
    let broken = plan.broken(now);
    let was_broken = before.map_or_else(Default::default, |before| plan.broken(before));
    let routes = plan.routes(now);
    let old = before.map(|before| plan.routes(before));
    let silent = |faults: &[Fault], node: &str| {
        let reason = DropReason::Silent;
        faults.contains(&Fault::Drop { switch: node.to_owned(), reason })
    };
    for (at, node) in plan.nodes.iter().enumerate() {
        let none = Routes::new();
        let old = old.as_ref().map_or(&none, |old| &old[at]);
        let links = || {
            node.interfaces
                .iter()
                .filter(|interface| broken.contains(&interface.link) != was_broken.contains(&interface.link))
        };
        let changes = |link: usize| {
            plan.rate(link, now) != before.map_or_else(Default::default, |before| plan.rate(link, before))
        };
        let becomes_silent =
            silent(now, &node.name) != before.is_some_and(|before| silent(before, &node.name));
        let is_same = *old == routes[at]
            && links().next().is_none()
            && !becomes_silent
            && !node.interfaces.iter().any(|it| changes(it.link));
        if is_same {
            continue;
        }
        let what = format!("cannot change `{}`", node.name);
        let changed = inside(plan, &node.name, |netlink| {
            let mut again = false;
            for interface in links() {
                let up = !broken.contains(&interface.link);
                let device = index(netlink, &interface.device)?;
                device::set_up(netlink, device, up)?;
                again = true;
            }
            for interface in &node.interfaces {
                let is_silent = silent(now, &node.name) && plan.nodes[interface.peer].kind != Kind::Host;
                if before.is_some() && !changes(interface.link) && !becomes_silent {
                    continue;
                }
                let device = index(netlink, &interface.device)?;
                let link = &plan.links[interface.link];
                match plan.rate(interface.link, now) {
                    _ if is_silent && !node.hears_of_drops() => silence::discard(netlink, device)?,
                    rate if rate.0 > 0 && !node.is_engine() => {
                        queue::limit(netlink, device, rate, link.queue_bytes)?;
                    }
                    _ => queue::remove(netlink, device)?,
                }
            }
            if node.hears_of_drops() && (becomes_silent || (again && silent(now, &node.name))) {
                let is_up = |interface: &&Interface| !broken.contains(&interface.link);
                for interface in node.interfaces.iter().filter(is_up) {
                    let device = index(netlink, &interface.device)?;
                    silence::estrange(
                        netlink,
                        device,
                        &plan.next_hops(at, interface),
                        silent(now, &node.name),
                    )?;
                }
            }
            change_routes(netlink, old, &routes[at], again)
        });
        result = result.and(changed.map_err(LabError::kernel(what)));
    }
    result
}

/// Runs `work` in the namespace of a part of the lab, with a connection to its kernel.
fn inside<T: Send>(
    plan: &Plan,
    part: &str,
    work: impl FnOnce(&mut Netlink) -> io::Result<T> + Send,
) -> io::Result<T> {
    let namespace = Namespace::open(&plan.namespace(part))?;
    namespace.inside(|| work(&mut Netlink::open()?)).and_then(|done| done)
}

/// Sets what every namespace needs before it has devices.
fn prepare(plan: &Plan, _name: &str) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    let lo = index(&mut netlink, "lo")?;
    device::set_up(&mut netlink, lo, true)?;
    let disable = if plan.has_ipv6() { "0" } else { "1" };
    for (key, value) in [
        ("ipv6/conf/all/disable_ipv6", disable),
        ("ipv6/conf/default/disable_ipv6", disable),
        // These addresses are unique, and have to stay where a link is down.
        ("ipv6/conf/default/accept_dad", "0"),
        ("ipv6/conf/all/keep_addr_on_down", "1"),
        ("ipv6/conf/default/accept_ra", "0"),
        ("ipv6/conf/default/router_solicitations", "0"),
        ("ipv4/conf/all/rp_filter", "0"),
        ("ipv4/conf/default/rp_filter", "0"),
        // Sockets that may have any port do not get that of INT.
        ("ipv4/ip_local_reserved_ports", INT_PORT),
    ] {
        set(key, value)?;
    }
    Ok(())
}

/// Creates the pairs of devices.
fn connect(plan: &Plan) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    let links = Namespace::open(&plan.namespace("links"))?;
    let collector = Namespace::open(&plan.namespace("collector"))?;
    let mut namespaces = Vec::new();
    for node in &plan.nodes {
        namespaces.push(Namespace::open(&plan.namespace(&node.name))?);
    }
    for (at, link) in plan.links.iter().enumerate() {
        let mut ends = Vec::new();
        for (node, id) in link.ends {
            let Some(interface) = plan.nodes[node].interfaces.iter().find(|interface| interface.id == id)
            else {
                continue;
            };
            ends.push(End {
                mtu: Some(interface.mtu),
                address: Some(mac(node, id)),
                ..End::new(&interface.device, &namespaces[node])
            });
        }
        let [a, b] = ends[..] else { continue };
        if link.is_relayed() {
            let [near, far] = relay_devices(at);
            veth::create(&mut netlink, [a, End { mtu: a.mtu, ..End::new(&near, &links) }])?;
            veth::create(&mut netlink, [b, End { mtu: b.mtu, ..End::new(&far, &links) }])?;
        } else {
            veth::create(&mut netlink, [a, b])?;
        }
    }
    for at in (0..plan.nodes.len()).filter(|at| plan.reports(*at)) {
        let name = format!("m{at}");
        veth::create(&mut netlink, [End::new(MANAGEMENT, &namespaces[at]), End::new(&name, &collector)])?;
        let (theirs, own) = management(at);
        for (namespace, device, ip) in
            [(&namespaces[at], MANAGEMENT, own), (&collector, name.as_str(), theirs)]
        {
            namespace.inside(|| {
                let mut netlink = Netlink::open()?;
                let device = index(&mut netlink, device)?;
                Address { device, ip, prefix_length: 30 }.add(&mut netlink)?;
                device::set_up(&mut netlink, device, true)
            })??;
        }
    }
    Ok(())
}

/// Sets up a node's devices and addresses.
fn set_up(plan: &Plan, at: usize, netlink: &mut Netlink) -> io::Result<()> {
    let node = &plan.nodes[at];
    for interface in &node.interfaces {
        let device = index(netlink, &interface.device)?;
        without_offloads(&interface.device)?;
        for address in &interface.addresses {
            let network = address.network;
            let whole = crate::quantity::Network::host(network.address).length;
            let prefix_length = if address.on_link { network.length } else { whole };
            Address { device, ip: network.address, prefix_length }.add(netlink)?;
        }
        device::set_up(netlink, device, true)?;
    }
    // Where this program forwards, the kernel must not forward as well.
    let forwards = if node.kind == Kind::Kernel { "1" } else { "0" };
    for (key, value) in
        [("ipv4/ip_forward", forwards), ("ipv4/conf/all/send_redirects", "0"), ("ipv4/icmp_ratelimit", "0")]
    {
        set(key, value)?;
    }
    if plan.has_ipv6() {
        set("ipv6/conf/all/forwarding", forwards)?;
        spread_by_headers("ipv6")?;
    }
    spread_by_headers("ipv4")?;
    if node.kind == (Kind::Bridge { engine: false }) {
        device::create(netlink, "bridge", "br0")?;
        let bridge = index(netlink, "br0")?;
        for interface in &node.interfaces {
            let device = index(netlink, &interface.device)?;
            device::set_master(netlink, device, Some(bridge))?;
        }
        device::set_up(netlink, bridge, true)?;
    }
    Ok(())
}

/// Sets up all devices of a part that has no addresses of hosts.
fn all_up(netlink: &mut Netlink) -> io::Result<()> {
    for found in device::all(netlink)? {
        if found.name != "lo" {
            without_offloads(&found.name)?;
            device::set_up(netlink, found.index, true)?;
        }
    }
    Ok(())
}

/// Makes a device carry packets as they are on a wire: none longer than its MTU, each with its checksum.
fn without_offloads(device: &str) -> io::Result<()> {
    for offload in
        [Offload::TcpSegmentation, Offload::Segmentation, Offload::ReceiveJoining, Offload::SendChecksum]
    {
        ethtool::switch_off(device, offload)?;
    }
    Ok(())
}

/// Changes a node's routes; `again`: a device has changed, so routes may be gone.
fn change_routes(netlink: &mut Netlink, old: &Routes, new: &Routes, again: bool) -> io::Result<()> {
    for (network, target) in old.iter().filter(|(network, _)| !new.contains_key(network)) {
        // A route whose devices are down is gone already.
        if let Ok(route) = route(netlink, network.address, network.length, target) {
            let _ = route.remove(netlink);
        }
    }
    // A router must be reachable before it can be a next hop.
    let (links, ways): (Vec<_>, Vec<_>) =
        new.iter().partition(|(_, target)| matches!(target, Target::Link(_)));
    for (network, target) in links.into_iter().chain(ways) {
        if !again && old.get(network) == Some(target) {
            continue;
        }
        let route = route(netlink, network.address, network.length, target)?;
        if route.destination.is_ipv6() && (again || old.contains_key(network)) {
            // The kernel adds IPv6 hops to an existing route.
            let _ = Route { hops: Vec::new(), ..route.clone() }.remove(netlink);
        }
        route.replace(netlink)?;
    }
    Ok(())
}

fn route(netlink: &mut Netlink, destination: IpAddr, length: u8, target: &Target) -> io::Result<Route> {
    let hops = match target {
        Target::Link(device) => vec![NextHop::on_link(index(netlink, device)?)],
        Target::Via(hops) => {
            let hop = |hop: &crate::plan::Hop| Ok(NextHop::by(hop.gateway, index(netlink, &hop.device)?));
            hops.iter().map(hop).collect::<io::Result<Vec<_>>>()?
        }
    };
    Ok(Route::new(destination, length, hops))
}

fn index(netlink: &mut Netlink, name: &str) -> io::Result<u32> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("no device {name}"));
    Ok(device::find(netlink, name)?.ok_or_else(missing)?.index)
}

/// Spreads flows over next hops by addresses, protocol and ports, as switches do.
///
/// By policy 1 the kernel prefers a hash that comes with the packet. Inside one machine that is the sender's
/// socket's: a random number that differs between the first packet of a TCP server and its others.
fn spread_by_headers(family: &str) -> io::Result<()> {
    let policy = format!("{family}/fib_multipath_hash_policy");
    set(&format!("{family}/fib_multipath_hash_fields"), FIELDS_OF_FLOWS)?;
    // Linux before 5.14 has no policy 3.
    set(&policy, "3").or_else(|_| set(&policy, "1"))
}

fn set(key: &str, value: &str) -> io::Result<()> {
    let path = Path::new("/proc/sys/net").join(key);
    match std::fs::write(&path, value) {
        // The kernel has no IPv6.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// An Ethernet address that encodes its node and interface.
fn mac(node: usize, id: u16) -> [u8; 6] {
    let [_, _, a, b] = u32::try_from(node).unwrap_or(0).to_be_bytes();
    let [c, d] = id.to_be_bytes();
    [0x02, 0x1b, a, b, c, d]
}

/// Source address, destination address, protocol, source port, destination port: bits 0, 1, 2, 4 and 5.
const FIELDS_OF_FLOWS: &str = "55";
/// The UDP port of INT, where a domain names no other.
const INT_PORT: &str = "33122";
/// The device that a node's reports leave by.
const MANAGEMENT: &str = "mgmt0";
/// Maximum wait for new devices.
const MAX_WAIT: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests;
