//! Drops of watched flows in this host's kernel.
//!
//! A program at the tracepoint `kfree_skb`, which every dropped packet passes, counts drops by flow, reason
//! and device, and samples the first packet of each. [`Drops`] loads it and reads its output; `causes` maps
//! the kernel's reasons to those of INT; `report` passes both to a node, which writes the reports.

mod abi;
pub(crate) mod btf;
mod causes;
mod codes;
mod meaning;
mod namespace;
mod outcome;
mod reasons;
mod report;
mod told;

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd};

use aya::maps::lpm_trie::Key;
use aya::maps::{HashMap, LpmTrie, MapData, MapError, RingBuf};
use aya::programs::RawTracePoint;
use aya::programs::raw_trace_point::RawTracePointLinkId;
use aya::{Ebpf, EbpfLoader, include_bytes_aligned};
use inband_linux::rcu;
use inband_linux::verification::uninterrupted;
use inband_node::config::Actions;
use zerocopy::FromBytes;

use crate::config::HostInt;
use crate::error::HostError;
use crate::maps;
use crate::rules::{MappedPrefix, RuleSet};
pub use btf::{BtfError, enumerators};
pub use causes::Cause;
use codes::Codes;
pub use meaning::Meaning;
use namespace::MAX_NAMESPACES;
pub use namespace::Namespace;
pub(crate) use namespace::{Namespaces, is_pattern};
pub use outcome::DropOutcome;
use reasons::Reasons;
pub use report::InterfaceIds;
pub use told::{DropCount, DroppedPacket};

/// The program that watches drops, and its maps; it is detached when this value is dropped.
pub struct Drops {
    ebpf: Ebpf,
    samples: RingBuf<MapData>,
    watched: RuleSet,
    reasons: Reasons,
    codes: Codes,
    namespaces: BTreeSet<Namespace>,
    /// The hosts whose INT is believed.
    senders: BTreeSet<MappedPrefix>,
    /// The devices by which packets leave in which this host has started INT.
    devices: BTreeSet<u32>,
    settings: abi::Settings,
    link: Option<RawTracePointLinkId>,
}

static OBJECT: &[u8] = include_bytes_aligned!("../bpf/drops.bpf.o");

const PROGRAM: &str = "dropped";
const TRACEPOINT: &str = "kfree_skb";
/// The size of the table of devices; dropped packets with INT that leave by further ones are not reported.
const MAX_DEVICES: usize = 1024;
/// The part of an interface index that packets carry (`DEPARTED_BY`).
const DEPARTED_BY: u32 = 0x3fff;

impl Drops {
    /// Loads the program for the watchlist of `host` and drops in `namespaces`; it does not run yet. INT of
    /// every host is believed.
    ///
    /// # Errors
    /// A setting that the program cannot follow, more than 256 namespaces, or a kernel that refuses the
    /// program or gives no drop reasons (before 5.17).
    pub fn load(host: &HostInt, namespaces: &[Namespace]) -> Result<Self, HostError> {
        let reasons = Reasons::of_this_kernel()?;
        let mut ebpf = EbpfLoader::new().load(OBJECT).map_err(HostError::Object)?;
        let program = tracepoint(&mut ebpf)?;
        uninterrupted(|| program.load()).map_err(|reason| HostError::Refused { name: PROGRAM, reason })?;
        let name = "SAMPLES";
        let samples = ebpf.take_map(name).ok_or(HostError::Missing(name))?;
        let samples = RingBuf::try_from(samples).map_err(|reason| HostError::Map { name, reason })?;
        let mut drops = Self {
            ebpf,
            samples,
            watched: RuleSet::default(),
            reasons,
            codes: Codes::default(),
            namespaces: BTreeSet::new(),
            senders: BTreeSet::new(),
            devices: BTreeSet::new(),
            settings: abi::Settings::default(),
            link: None,
        };
        drops.set_policies()?;
        drops.believe(BTreeSet::from([MappedPrefix::ANY]))?;
        drops.look_at(namespaces)?;
        drops.configure(host)?;
        Ok(drops)
    }

    /// Applies `host` from the next packet on.
    ///
    /// # Errors
    /// A setting that the program cannot follow; it then continues unchanged.
    pub fn configure(&mut self, host: &HostInt) -> Result<(), HostError> {
        let rules = RuleSet::new(&host.node.watchlist, Actions::REPORT_DROPS, &[], 0)?;
        let config = host.config()?;
        self.codes = Codes::new(&host.node.drop_reasons, &self.reasons);
        self.settings.config = config;
        self.write_settings()?;
        let old = std::mem::take(&mut self.watched);
        maps::watch(&mut self.ebpf, &old, &rules)?;
        self.watched = rules;
        Ok(())
    }

    /// Attaches the program: it watches drops from here on.
    ///
    /// # Errors
    /// A kernel without the tracepoint.
    pub fn attach(&mut self) -> Result<(), HostError> {
        let attached = tracepoint(&mut self.ebpf)?.attach(TRACEPOINT);
        self.link = Some(attached.map_err(|reason| HostError::Refused { name: PROGRAM, reason })?);
        Ok(())
    }

    /// Watches drops in `namespaces` and no others, from the next packet on.
    ///
    /// # Errors
    /// More than 256 namespaces, or a map that cannot be written.
    pub fn look_at(&mut self, namespaces: &[Namespace]) -> Result<(), HostError> {
        let wanted: BTreeSet<_> = namespaces.iter().copied().collect();
        if wanted.len() > MAX_NAMESPACES {
            let value = wanted.len().to_string();
            return Err(HostError::Unsupported { key: "namespaces", value, instead: "at most 256" });
        }
        let name = "NAMESPACES";
        let fault = |reason| HostError::Map { name, reason };
        let map = maps::map(&mut self.ebpf, name)?;
        let mut looked_at: HashMap<_, u32, u32> = HashMap::try_from(map).map_err(fault)?;
        let set = |namespace: &Namespace, is_wanted| match is_wanted {
            true => looked_at.insert(namespace.0, 1, 0),
            false => maps::absent_or(looked_at.remove(&namespace.0)),
        };
        change(&mut self.namespaces, wanted, set).map_err(fault)
    }

    /// Believes the INT of `senders` and no others, from the next packet on: a dropped packet with INT of
    /// another host is not reported.
    pub(crate) fn believe(&mut self, senders: BTreeSet<MappedPrefix>) -> Result<(), HostError> {
        let name = "SENDERS";
        let fault = |reason| HostError::Map { name, reason };
        let key = |prefix: &MappedPrefix| Key::new(prefix.length, prefix.address.to_be_bytes());
        let map = maps::map(&mut self.ebpf, name)?;
        let mut believed: LpmTrie<_, [u8; 16], u32> = LpmTrie::try_from(map).map_err(fault)?;
        let set = |prefix: &MappedPrefix, is_believed| match is_believed {
            true => believed.insert(&key(prefix), 1, 0),
            false => maps::absent_or(believed.remove(&key(prefix))),
        };
        change(&mut self.senders, senders, set).map_err(fault)
    }

    /// Believes INT that was started in packets that leave by the devices `leads_out` of `namespace`.
    pub(crate) fn set_devices(
        &mut self,
        namespace: Namespace,
        leads_out: BTreeSet<u32>,
    ) -> Result<(), HostError> {
        let name = "DEVICES";
        let fault = |reason| HostError::Map { name, reason };
        let map = maps::map(&mut self.ebpf, name)?;
        let mut known: HashMap<_, [u32; 2], u32> = HashMap::try_from(map).map_err(fault)?;
        let set = |device: &u32, is_there| match is_there {
            true => known.insert([namespace.0, *device], 1, 0),
            false => maps::absent_or(known.remove(&[namespace.0, *device])),
        };
        let carried = leads_out.into_iter().map(|device| device & DEPARTED_BY).take(MAX_DEVICES).collect();
        change(&mut self.devices, carried, set).map_err(fault)
    }

    /// Takes the oldest pending packet.
    pub fn poll_packet(&mut self) -> Option<DroppedPacket> {
        while let Some(item) = self.samples.next() {
            let Ok((sample, _)) = abi::Sample::read_from_prefix(&item) else { continue };
            let captured = usize::try_from(sample.captured).unwrap_or(usize::MAX);
            return Some(DroppedPacket {
                time: sample.time,
                reason: self.reasons.name(sample.reason),
                code: self.codes.code(&self.reasons, sample.reason, sample.hints()),
                namespace: Namespace(sample.namespace),
                device: sample.device,
                ingress_device: sample.ingress_device,
                length: sample.length,
                location: sample.location,
                packet: sample.bytes.get(..captured).unwrap_or(&sample.bytes).to_vec(),
            });
        }
        None
    }

    /// Takes the counts from before the previous call; later ones come with the next call.
    ///
    /// This way no packet is lost between reading a count and removing it: every call begins a new set of
    /// counts, and the one before has a whole interval to settle. Call it about once a second.
    ///
    /// # Errors
    /// Maps that cannot be read.
    pub fn take_counts(&mut self) -> Result<Vec<DropCount>, HostError> {
        let closed = self.settings.generation;
        let current = closed.wrapping_add(1);
        self.settings.generation = current;
        self.write_settings()?;
        self.take(|generation| generation != closed && generation != current)
    }

    /// Stops watching drops and takes all remaining counts.
    ///
    /// # Errors
    /// As [`Drops::take_counts`].
    pub fn finish(&mut self) -> Result<Vec<DropCount>, HostError> {
        // A child process between fork and exec holds a copy of the link's descriptor; closing ours does not
        // detach the program then.
        self.settings.is_over = 1;
        self.write_settings()?;
        // Without this call a running program may still count.
        let _ = rcu::wait();
        if let Some(link) = self.link.take() {
            let detached = tracepoint(&mut self.ebpf)?.detach(link);
            detached.map_err(|reason| HostError::Refused { name: PROGRAM, reason })?;
        }
        self.take(|_| true)
    }

    /// The number of packets with `outcome`.
    ///
    /// # Errors
    /// Counters that the kernel does not return.
    pub fn count(&self, outcome: DropOutcome) -> Result<u64, HostError> {
        maps::sum(&self.ebpf, "COUNTERS", outcome as u32)
    }

    fn write_settings(&mut self) -> Result<(), HostError> {
        let bytes: [u8; size_of::<abi::Settings>()] = zerocopy::transmute!(self.settings);
        maps::set(&mut self.ebpf, "SETTINGS", 0, bytes)
    }

    /// Removes the counts of the generations that `is_taken` selects.
    fn take(&mut self, is_taken: impl Fn(u32) -> bool) -> Result<Vec<DropCount>, HostError> {
        const KEY: usize = size_of::<abi::Key>();
        const COUNT: usize = size_of::<abi::Count>();
        let name = "DROPS";
        let fault = |reason| HostError::Map { name, reason };
        let map = maps::map(&mut self.ebpf, name)?;
        let mut held: HashMap<_, [u8; KEY], [u8; COUNT]> = HashMap::try_from(map).map_err(fault)?;
        let keys: Vec<_> = held.keys().collect::<Result<_, _>>().map_err(fault)?;
        let mut taken = Vec::new();
        for bytes in keys {
            let key: abi::Key = zerocopy::transmute!(bytes);
            if !is_taken(key.generation) {
                continue;
            }
            let count: abi::Count = zerocopy::transmute!(held.get(&bytes, 0).map_err(fault)?);
            held.remove(&bytes).map_err(fault)?;
            taken.push((key, count));
        }
        Ok(taken.iter().map(|(key, count)| self.told(key, count)).collect())
    }

    fn told(&self, key: &abi::Key, count: &abi::Count) -> DropCount {
        DropCount {
            flow: told::five_tuple(&key.flow),
            reason: self.reasons.name(key.reason),
            code: self.codes.code(&self.reasons, key.reason, key.hints()),
            namespace: Namespace(key.namespace),
            device: key.device,
            packets: count.packets,
            segments: count.segments,
            bytes: count.bytes,
            first: count.first,
            last: count.last,
        }
    }

    /// Tells the program which reasons are not drops.
    fn set_policies(&mut self) -> Result<(), HostError> {
        for (number, name) in self.reasons.iter().filter(|(number, _)| *number < abi::MAX_REASONS) {
            let mut policy: u32 = 0;
            if Cause::of(name) == Cause::NotLost {
                policy |= abi::NOT_LOST;
            }
            if causes::OF_CLASSIFIERS.contains(&name) {
                policy |= abi::BY_CLASSIFIER;
            }
            if name == causes::NOT_SPECIFIED {
                policy |= abi::WITHOUT_REASON;
            }
            if policy != 0 {
                maps::set(&mut self.ebpf, "POLICIES", number, policy.to_ne_bytes())?;
            }
        }
        Ok(())
    }
}

/// Changes the entries of a table from `present` to `wanted`; `set` adds or removes one.
fn change<T: Ord>(
    present: &mut BTreeSet<T>,
    wanted: BTreeSet<T>,
    mut set: impl FnMut(&T, bool) -> Result<(), MapError>,
) -> Result<(), MapError> {
    present.difference(&wanted).try_for_each(|entry| set(entry, false))?;
    wanted.difference(present).try_for_each(|entry| set(entry, true))?;
    *present = wanted;
    Ok(())
}

/// Readable when packets wait for [`Drops::poll_packet`].
impl AsFd for Drops {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.samples.as_fd()
    }
}

/// The number of the kernel's drop reasons.
pub(crate) fn count_reasons() -> Result<usize, HostError> {
    Ok(Reasons::of_this_kernel()?.iter().count())
}

fn tracepoint(ebpf: &mut Ebpf) -> Result<&mut RawTracePoint, HostError> {
    let program = ebpf.program_mut(PROGRAM).ok_or(HostError::Missing(PROGRAM))?;
    program.try_into().map_err(|reason| HostError::Refused { name: PROGRAM, reason })
}
