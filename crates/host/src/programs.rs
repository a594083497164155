//! The programs of this host in the kernel: loading, settings, counters.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use aya::maps::{HashMap, Map, MapData, RingBuf};
use aya::programs::{SchedClassifier, TestRun, TestRunOptions};
use aya::{Ebpf, EbpfLoader, include_bytes_aligned};
use inband_linux::tcx::{self, Direction, Order};
use inband_linux::verification::uninterrupted;
use inband_node::NodeConfig;
use inband_node::config::{Actions, Mode};
use inband_wire::int::metadata::NOT_AVAILABLE;

use crate::abi::{Config, WATCHED, WITH_INT};
use crate::config::HostInt;
use crate::error::HostError;
use crate::maps::{self, absent_or};
use crate::memory;
use crate::object;
use crate::outcome::{Outcome, Traffic};
use crate::peers::{ENDED_ALWAYS, IS_PEER, SENT_ALWAYS};
use crate::rules::{MappedPrefix, RuleSet};

/// The programs and their maps in the kernel; what is attached is detached when this value is dropped.
#[derive(Debug)]
pub struct Programs {
    ebpf: Ebpf,
    watched: RuleSet,
    /// The number of changes to `CONFIG`.
    changes: u64,
}

/// One of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    /// Steers watched packets through the shim.
    Steer,
    /// Starts INT.
    Source,
    /// Removes INT.
    Sink,
}

/// A packet that went through a program alone, without a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The frame as the program left it.
    pub frame: Vec<u8>,
    /// Mean time of one run, nanoseconds.
    pub nanoseconds: u32,
}

pub(crate) static OBJECT: &[u8] = include_bytes_aligned!("bpf/inband.bpf.o");

/// Maximum bytes of a frame that [`Programs::pass`] takes and returns.
const MAX_FRAME: usize = 4096;
/// The device of packets of [`Programs::pass`].
const LOOPBACK: u32 = 1;
/// Of the programs: the number of places for queues.
const MAX_INTERFACES: u32 = 1024;

impl Program {
    /// All programs.
    pub const ALL: [Self; 3] = [Self::Steer, Self::Source, Self::Sink];

    /// The program's name in the kernel.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Steer => "steer",
            Self::Source => "source",
            Self::Sink => "sink",
        }
    }
}

impl Programs {
    /// Loads the programs for the INT settings of `host`; nothing is attached yet.
    ///
    /// # Errors
    /// A setting that the programs cannot follow, or a kernel that refuses them.
    pub fn load(host: &HostInt) -> Result<Self, HostError> {
        let mut programs = Self::load_idle()?;
        programs.configure(host)?;
        Ok(programs)
    }

    /// Loads the programs; they pass everything.
    fn load_idle() -> Result<Self, HostError> {
        Self::load_with(memory::MAX_FLOWS)
    }

    /// Loads the programs with tables of at most `most_mib` of memory; they pass everything.
    ///
    /// # Errors
    /// Tables that do not fit, or a kernel that refuses the programs.
    pub(crate) fn load_within(most_mib: u32) -> Result<Self, HostError> {
        let most = u64::from(most_mib) << 20;
        let mut flows = memory::flows_within(most);
        loop {
            let programs = Self::load_with(flows)?;
            if programs.memory() + memory::OF_DROPS <= most {
                return Ok(programs);
            }
            // Some tables have a share for each processor, so they take more on machines with many.
            flows /= 2;
            if flows < memory::MIN_FLOWS {
                let (key, value) = ("host.map_memory_mib", most_mib.to_string());
                return Err(HostError::Unsupported {
                    key,
                    value,
                    instead: "more on a machine with so many processors",
                });
            }
        }
    }

    /// Memory of all tables, bytes.
    #[must_use]
    pub(crate) fn memory(&self) -> u64 {
        memory::of(&self.ebpf)
    }

    fn load_with(flows: u32) -> Result<Self, HostError> {
        let limit = |loader: &mut EbpfLoader<'_>| {
            for table in memory::FLOW_TABLES {
                loader.map_max_entries(table, flows);
            }
        };
        let ebpf = object::load(OBJECT, limit).map_err(HostError::Object)?;
        let mut programs = Self { ebpf, watched: RuleSet::default(), changes: 0 };
        for program in Program::ALL {
            let name = program.name();
            let classifier = programs.classifier(program)?;
            uninterrupted(|| classifier.load()).map_err(|reason| HostError::Refused { name, reason })?;
        }
        Ok(programs)
    }

    /// Applies `host` from the next packet of [`Programs::pass`] on.
    ///
    /// # Errors
    /// A setting that the programs cannot follow; they then continue unchanged.
    pub fn configure(&mut self, host: &HostInt) -> Result<(), HostError> {
        let config = Config { device: LOOPBACK, ..host.config()? };
        // Packets of this interface have no agents behind them.
        self.set_peer(&MappedPrefix::ANY, IS_PEER | SENT_ALWAYS | ENDED_ALWAYS)?;
        self.set_watchlist(&host.node, 0)?;
        self.set_config(LOOPBACK, &config)
    }

    /// Sets the occupancy that `source` finds for the queue of [`Programs::pass`], bytes, as `steer` notes it
    /// for a device; `None`: unknown.
    ///
    /// # Errors
    /// A kernel that refuses it.
    pub fn note_queue(&mut self, occupancy: Option<u32>) -> Result<(), HostError> {
        self.set_queue(LOOPBACK, [LOOPBACK, occupancy.unwrap_or(NOT_AVAILABLE), 0])
    }

    /// Sets the watchlist of `node`, without traffic to its collectors or to `control_port`.
    ///
    /// # Errors
    /// An entry that the programs cannot follow; they then continue unchanged.
    pub(crate) fn set_watchlist(&mut self, node: &NodeConfig, control_port: u16) -> Result<(), HostError> {
        let collectors: Vec<_> = node.report.sessions().iter().map(|session| session.collector).collect();
        let action = match node.source.mode {
            Mode::Md | Mode::Mx => Actions::START_INT,
            Mode::Xd => Actions::REPORT_FLOW,
        };
        self.watch(RuleSet::new(&node.watchlist, action, &collectors, control_port)?)
    }

    /// Applies `config` to the programs on `interface` from the next packet on.
    pub(crate) fn set_config(&mut self, interface: u32, config: &Config) -> Result<(), HostError> {
        let fault = |reason| HostError::Map { name: "CONFIG", reason };
        let bytes: [u8; size_of::<Config>()] = zerocopy::transmute!(*config);
        let mut map: HashMap<_, u32, [u8; size_of::<Config>()]> =
            HashMap::try_from(self.map("CONFIG")?).map_err(fault)?;
        map.insert(interface, bytes, 0).map_err(fault)?;
        self.spread_changes()
    }

    /// Makes the programs on `interface` pass everything; that they already do is no error.
    pub(crate) fn forget_config(&mut self, interface: u32) -> Result<(), HostError> {
        let fault = |reason| HostError::Map { name: "CONFIG", reason };
        let mut map: HashMap<_, u32, [u8; size_of::<Config>()]> =
            HashMap::try_from(self.map("CONFIG")?).map_err(fault)?;
        absent_or(map.remove(&interface)).map_err(fault)?;
        // The queue's occupancy does not apply to another device.
        self.set_queue(interface, [0; 3])?;
        self.spread_changes()
    }

    /// Sets what is noted of the queue of `interface`: a `struct queue_note` of the programs.
    fn set_queue(&mut self, interface: u32, note: [u32; 3]) -> Result<(), HostError> {
        let bytes: [u8; 12] = zerocopy::transmute!(note);
        maps::set(&mut self.ebpf, "QUEUES", interface % MAX_INTERFACES, bytes)
    }

    /// Invalidates every processor's copies of `CONFIG`, and what flows know of the watchlist.
    fn spread_changes(&mut self) -> Result<(), HostError> {
        self.changes += 1;
        maps::set(&mut self.ebpf, "CHANGES", 0, self.changes.to_ne_bytes())
    }

    /// Allows INT to be started until `until`, nanoseconds since boot, also while the host is suspended.
    pub(crate) fn beat(&mut self, until: u64) -> Result<(), HostError> {
        maps::set(&mut self.ebpf, "HEARTBEAT", 0, until.to_ne_bytes())
    }

    /// Attaches `program` to `interface` in its direction, until the descriptor is closed.
    pub(crate) fn attach(&mut self, program: Program, interface: u32) -> Result<OwnedFd, HostError> {
        // Other programs see packets as applications do: before INT is started, and after it is removed.
        let (direction, order) = match program {
            Program::Steer => (Direction::Egress, Order::Last),
            Program::Source => (Direction::Egress, Order::First),
            Program::Sink => (Direction::Ingress, Order::First),
        };
        let name = program.name();
        let refused = |reason| HostError::Refused { name, reason };
        let fd = self.classifier(program)?.fd().map_err(refused)?;
        tcx::attach(fd.as_fd(), interface, direction, order)
            .map_err(|reason| HostError::system(format!("attach the program `{name}`"), reason))
    }

    /// The descriptor of `program`.
    pub(crate) fn descriptor(&mut self, program: Program) -> Result<BorrowedFd<'_>, HostError> {
        let name = program.name();
        let fd = self.classifier(program)?.fd().map_err(|reason| HostError::Refused { name, reason })?;
        Ok(fd.as_fd())
    }

    /// The events of the programs; can be taken once.
    pub(crate) fn take_events(&mut self) -> Result<RingBuf<MapData>, HostError> {
        let name = "EVENTS";
        let map = self.ebpf.take_map(name).ok_or(HostError::Missing(name))?;
        RingBuf::try_from(map).map_err(|reason| HostError::Map { name, reason })
    }

    /// Runs `frame` through `program` in the kernel, `repeat` times from the same bytes.
    ///
    /// # Errors
    /// A frame of less than 14 bytes, or one the kernel refuses.
    pub fn pass(&mut self, program: Program, frame: &[u8], repeat: u32) -> Result<Passed, HostError> {
        let mut out = vec![0; MAX_FRAME];
        let options = TestRunOptions {
            data_in: Some(frame),
            data_out: Some(&mut out),
            repeat,
            ..TestRunOptions::new()
        };
        let name = program.name();
        let run = self
            .classifier(program)?
            .test_run(options)
            .map_err(|reason| HostError::Refused { name, reason })?;
        out.truncate(usize::try_from(run.data_size_out).unwrap_or(usize::MAX));
        let nanoseconds = u32::try_from(run.duration.as_nanos()).unwrap_or(u32::MAX);
        Ok(Passed { frame: out, nanoseconds })
    }

    /// The number of packets with `outcome` in all programs.
    ///
    /// # Errors
    /// Counters that the kernel does not return.
    pub fn count(&self, outcome: Outcome) -> Result<u64, HostError> {
        maps::sum(&self.ebpf, "COUNTERS", outcome as u32)
    }

    /// The amount of `traffic`.
    ///
    /// # Errors
    /// Counters that the kernel does not return.
    pub fn traffic(&self, traffic: Traffic) -> Result<u64, HostError> {
        let index = match traffic {
            Traffic::WatchedPackets | Traffic::WatchedBytes => WATCHED,
            Traffic::IntPackets | Traffic::IntBytes => WITH_INT,
        };
        let [packets, bytes] = maps::volume(&self.ebpf, "TRAFFIC", index)?;
        Ok(match traffic {
            Traffic::WatchedPackets | Traffic::IntPackets => packets,
            Traffic::WatchedBytes | Traffic::IntBytes => bytes,
        })
    }

    fn classifier(&mut self, program: Program) -> Result<&mut SchedClassifier, HostError> {
        let name = program.name();
        let found = self.ebpf.program_mut(name).ok_or(HostError::Missing(name))?;
        found.try_into().map_err(|reason| HostError::Refused { name, reason })
    }

    /// Writes the watchlist to the maps; if that fails, the one before stays.
    fn watch(&mut self, set: RuleSet) -> Result<(), HostError> {
        if let Err(error) = maps::watch(&mut self.ebpf, &self.watched, &set) {
            // Its entries are still there, or have just been; the first error is the one to report.
            let _ = maps::watch(&mut self.ebpf, &set, &self.watched);
            return Err(error);
        }
        self.watched = set;
        self.spread_changes()
    }

    pub(crate) fn ebpf_mut(&mut self) -> &mut Ebpf {
        &mut self.ebpf
    }

    pub(crate) fn map(&mut self, name: &'static str) -> Result<&mut Map, HostError> {
        maps::map(&mut self.ebpf, name)
    }
}
