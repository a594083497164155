//! The follower of the kernel's routes, neighbours, addresses and devices.

use std::collections::HashSet;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use inband_linux::address::{self, Address};
use inband_linux::device::{self, Device};
use inband_linux::neighbour;
use inband_linux::netlink::{Group, Heard, Monitor, Netlink};
use inband_linux::route::{self, Route, RouteKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::SwitchError;
use crate::forward::{Neighbour, Prefixes};
use crate::guard::OwnAddresses;
use crate::hash::{QuickMap, QuickSet};

/// The contents of the kernel's tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    /// The routes to one prefix, in ascending order of metric.
    routes: Prefixes<Vec<Route>>,
    neighbours: QuickMap<Neighbour, [u8; 6]>,
    /// The permanent ones among them.
    permanent: HashSet<Neighbour>,
    own: QuickSet<IpAddr>,
    addresses: Vec<Address>,
    up: QuickSet<u32>,
    devices: Arc<[Device]>,
}

impl Tables {
    /// Whether packets to `address` are for this host.
    pub(crate) fn is_own(&self, address: IpAddr) -> bool {
        self.own.contains(&address)
    }

    /// The route to `address` by a device that is up.
    pub(crate) fn route(&self, address: IpAddr) -> Option<&Route> {
        let is_usable = |route: &&Route| {
            route.kind != RouteKind::Unicast
                || route.hops.iter().any(|hop| !hop.is_down && self.is_up(hop.device))
        };
        self.routes.all(address).flatten().find(is_usable)
    }

    /// The Ethernet address of a neighbour.
    pub(crate) fn neighbour(&self, neighbour: Neighbour) -> Option<[u8; 6]> {
        self.neighbours.get(&neighbour).copied()
    }

    /// The neighbours that are not permanent.
    pub(crate) fn passing_neighbours(&self) -> impl Iterator<Item = Neighbour> {
        self.neighbours.keys().filter(|neighbour| !self.permanent.contains(neighbour)).copied()
    }

    /// The device with this interface index.
    pub(crate) fn device(&self, index: u32) -> Option<&Device> {
        self.devices.iter().find(|device| device.index == index)
    }

    /// The device with this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.name == name)
    }

    pub(crate) fn is_up(&self, device: u32) -> bool {
        self.up.contains(&device)
    }

    /// The source address of messages to senders behind `device`.
    pub(crate) fn source(&self, device: u32, is_v4: bool) -> Option<IpAddr> {
        let fits = |address: &&Address| address.ip.is_ipv4() == is_v4 && !address.ip.is_loopback();
        let is_global = |address: &&Address| match address.ip {
            IpAddr::V4(_) => true,
            IpAddr::V6(ip) => !ip.is_unicast_link_local(),
        };
        let all = || self.addresses.iter().filter(fits);
        let here = || all().filter(|address| address.device == device);
        here()
            .find(is_global)
            .or_else(|| all().find(is_global))
            .or_else(|| here().next())
            .map(|found| found.ip)
    }

    /// The numbers of routes and neighbours.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        (self.routes.len(), self.neighbours.len())
    }
}

/// The last tables, and the thread that reads them.
#[derive(Debug)]
pub(crate) struct Follower {
    shared: Arc<Shared>,
    asked: Sender<Vec<Neighbour>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    tables: Mutex<Arc<Tables>>,
    /// Incremented with every change of the tables.
    version: AtomicU64,
    stop: AtomicBool,
}

/// The longest wait for announcements, nanoseconds.
const WAIT_NS: i64 = 10_000_000;
/// How long changes gather before the tables are read again.
const GATHER: Duration = Duration::from_millis(1);

impl Follower {
    /// Reads the tables for the first time, and starts to follow them; keeps the set `own` up to date.
    pub(crate) fn start(mut own: OwnAddresses) -> Result<Self, SwitchError> {
        let fault = || SwitchError::system("follow the kernel's routes");
        let mut monitor = Monitor::open(&Group::ALL).map_err(fault())?;
        let mut netlink = Netlink::open().map_err(fault())?;
        let tables = read(&mut netlink).map_err(fault())?;
        own.allow(&tables.own).map_err(fault())?;
        let shared = Arc::new(Shared { tables: Mutex::new(Arc::new(tables)), ..Shared::default() });
        let (asked, requests) = channel();
        let theirs = Arc::clone(&shared);
        let follow = move || {
            let mut news = News::default();
            while !theirs.stop.load(Ordering::Relaxed) {
                // A failure is temporary, such as a device that disappeared; the next round retries.
                let _ = follow_once(&mut monitor, &mut netlink, &requests, &theirs, &mut own, &mut news);
            }
        };
        let thread = std::thread::Builder::new().name("routes".to_owned()).spawn(follow).map_err(fault())?;
        Ok(Self { shared, asked, thread: Some(thread) })
    }

    /// The version of the tables.
    pub(crate) fn version(&self) -> u64 {
        self.shared.version.load(Ordering::Acquire)
    }

    pub(crate) fn tables(&self) -> Arc<Tables> {
        Arc::clone(&self.shared.tables.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets the kernel resolve neighbours, or check whether they still exist.
    pub(crate) fn look_for(&self, neighbours: Vec<Neighbour>) {
        // The thread lives as long as this value.
        let _ = self.asked.send(neighbours);
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has also ended.
            let _ = thread.join();
        }
    }
}

/// Waits for announcements and requests for a while, and acts on them; `news` keeps what could not be done.
fn follow_once(
    monitor: &mut Monitor,
    netlink: &mut Netlink,
    requests: &Receiver<Vec<Neighbour>>,
    shared: &Shared,
    own: &mut OwnAddresses,
    news: &mut News,
) -> io::Result<()> {
    {
        let timeout = Timespec { tv_sec: 0, tv_nsec: WAIT_NS };
        poll(&mut [PollFd::new(monitor, PollFlags::IN)], Some(&timeout))?;
    }
    look(netlink, requests, shared);
    loop {
        let mut is_new = false;
        let heard = monitor.poll(|kind, body| is_new |= news.hear(kind, body))?;
        if heard == Heard::Overrun {
            news.everything = true;
        } else if !is_new {
            break;
        }
        std::thread::sleep(GATHER);
    }
    if news.is_none() {
        return Ok(());
    }
    let mut tables = if news.everything {
        let tables = read(netlink)?;
        own.allow(&tables.own)?;
        tables
    } else {
        Tables::clone(&shared.tables.lock().unwrap_or_else(PoisonError::into_inner))
    };
    for known in &news.neighbours {
        tables.set_neighbour(known);
    }
    *news = News::default();
    *shared.tables.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(tables);
    shared.version.fetch_add(1, Ordering::Release);
    Ok(())
}

fn look(netlink: &mut Netlink, requests: &Receiver<Vec<Neighbour>>, shared: &Shared) {
    loop {
        match requests.try_recv() {
            Ok(neighbours) => {
                for (device, ip) in neighbours {
                    // A failure has the same effect as a neighbour that is not found.
                    let _ = neighbour::look_for(netlink, device, ip);
                }
            }
            Err(TryRecvError::Empty) => return,
            Err(TryRecvError::Disconnected) => return shared.stop.store(true, Ordering::Relaxed),
        }
    }
}

/// The announced changes.
#[derive(Debug, Default)]
struct News {
    /// Something other than neighbours has changed.
    everything: bool,
    neighbours: Vec<neighbour::Neighbour>,
}

impl News {
    /// Handles an announcement; returns whether it is relevant.
    fn hear(&mut self, kind: u16, body: &[u8]) -> bool {
        match kind {
            neighbour::NEW => self.neighbours.extend(neighbour::Neighbour::read(body)),
            neighbour::DELETE => {
                let gone = neighbour::Neighbour::read(body);
                self.neighbours.extend(gone.map(|gone| neighbour::Neighbour { address: None, ..gone }));
            }
            _ => self.everything = true,
        }
        true
    }

    fn is_none(&self) -> bool {
        !self.everything && self.neighbours.is_empty()
    }
}

impl Tables {
    fn set_neighbour(&mut self, known: &neighbour::Neighbour) {
        let key = (known.device, known.ip);
        match known.address {
            Some(address) => self.neighbours.insert(key, address),
            None => self.neighbours.remove(&key),
        };
        match known.address {
            Some(_) if known.is_permanent => self.permanent.insert(key),
            _ => self.permanent.remove(&key),
        };
    }

    fn add_route(&mut self, route: Route) {
        let is_own = matches!(route.kind, RouteKind::Local | RouteKind::Broadcast | RouteKind::Anycast);
        let length = if route.destination.is_ipv4() { 32 } else { 128 };
        match route.table {
            route::LOCAL if is_own && route.prefix_length == length => {
                self.own.insert(route.destination);
            }
            route::MAIN => {
                let routes = self.routes.entry(route.destination, route.prefix_length);
                routes.push(route);
                routes.sort_by_key(|route| route.metric);
            }
            _ => {}
        }
    }
}

fn read(netlink: &mut Netlink) -> io::Result<Tables> {
    let mut tables = Tables { addresses: address::all(netlink)?, ..Tables::default() };
    tables.devices = device::all(netlink)?.into();
    tables.up.extend(tables.devices.iter().filter(|device| device.is_running).map(|device| device.index));
    for route in route::all(netlink)? {
        tables.add_route(route);
    }
    for known in neighbour::all(netlink)? {
        tables.set_neighbour(&known);
    }
    Ok(tables)
}
