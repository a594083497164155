//! How do the programs get into the kernel, and what do they say?

use aya::maps::lpm_trie::Key;
use aya::maps::{Array, LpmTrie, Map, PerCpuArray};
use aya::programs::{SchedClassifier, TestRun, TestRunOptions};
use aya::{Ebpf, EbpfLoader, include_bytes_aligned};

use crate::abi::{Config, Rules};
use crate::config::HostInt;
use crate::error::HostError;
use crate::outcome::Outcome;
use crate::rules::{MappedPrefix, RuleSet};

/// The programs of this host in the kernel, and their maps; what is attached is detached when this is dropped.
#[derive(Debug)]
pub struct Programs {
    ebpf: Ebpf,
    watched: RuleSet,
}

/// One of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    /// Sends watched packets through the shim.
    Steer,
    /// Starts INT.
    Source,
    /// Takes INT out.
    Sink,
}

/// A packet that went through a program by itself, without a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The frame as the program left it.
    pub frame: Vec<u8>,
    /// Mean time of one run, nanoseconds.
    pub nanoseconds: u32,
}

pub(crate) static OBJECT: &[u8] = include_bytes_aligned!("bpf/inband.bpf.o");

/// Most bytes of a frame that [`Programs::pass`] takes and gives back.
const MOST_FRAME: usize = 4096;

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
    /// Loads the programs for the INT that `host` asks for; nothing is attached yet.
    ///
    /// # Errors
    /// A setting that the programs cannot follow, or a kernel that does not take them.
    pub fn load(host: &HostInt) -> Result<Self, HostError> {
        let ebpf = EbpfLoader::new().load(OBJECT).map_err(HostError::Object)?;
        let mut programs = Self { ebpf, watched: RuleSet::default() };
        for program in Program::ALL {
            let name = program.name();
            programs.classifier(program)?.load().map_err(|reason| HostError::Refused { name, reason })?;
        }
        programs.configure(host)?;
        Ok(programs)
    }

    /// Makes the programs follow `host` from the next packet on.
    ///
    /// # Errors
    /// A setting that the programs cannot follow; they go on as before.
    pub fn configure(&mut self, host: &HostInt) -> Result<(), HostError> {
        let (config, rules) = (host.config()?, RuleSet::new(&host.node.watchlist)?);
        let bytes: [u8; size_of::<Config>()] = zerocopy::transmute!(config);
        self.set("CONFIG", bytes)?;
        self.watch(rules)
    }

    /// Runs `frame` through `program` in the kernel, `repeat` times from the same bytes.
    ///
    /// # Errors
    /// A frame of less than 14 bytes, or one the kernel does not take.
    pub fn pass(&mut self, program: Program, frame: &[u8], repeat: u32) -> Result<Passed, HostError> {
        let mut out = vec![0; MOST_FRAME];
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

    /// How often `outcome` happened in all programs.
    ///
    /// # Errors
    /// Counters that the kernel does not give.
    pub fn count(&self, outcome: Outcome) -> Result<u64, HostError> {
        let name = "COUNTERS";
        let fault = |reason| HostError::Map { name, reason };
        let map = self.ebpf.map(name).ok_or(HostError::Missing(name))?;
        let counters: PerCpuArray<_, u64> = PerCpuArray::try_from(map).map_err(fault)?;
        let values = counters.get(&(outcome as u32), 0).map_err(fault)?;
        Ok(values.iter().sum())
    }

    fn classifier(&mut self, program: Program) -> Result<&mut SchedClassifier, HostError> {
        let name = program.name();
        let found = self.ebpf.program_mut(name).ok_or(HostError::Missing(name))?;
        found.try_into().map_err(|reason| HostError::Refused { name, reason })
    }

    /// Puts the watchlist into the maps: prefixes first, so that no rule is asked about without them.
    fn watch(&mut self, set: RuleSet) -> Result<(), HostError> {
        let old = std::mem::take(&mut self.watched);
        self.replace("SOURCES", &old.sources, &set.sources)?;
        self.replace("DESTINATIONS", &old.destinations, &set.destinations)?;
        let bytes: [u8; size_of::<Rules>()] = zerocopy::transmute!(set.rules);
        self.set("RULES", bytes)?;
        self.watched = set;
        Ok(())
    }

    /// Writes the one entry of the array `name`.
    fn set<const N: usize>(&mut self, name: &'static str, value: [u8; N]) -> Result<(), HostError> {
        let fault = |reason| HostError::Map { name, reason };
        let mut array: Array<_, [u8; N]> = Array::try_from(self.map(name)?).map_err(fault)?;
        array.set(0, value, 0).map_err(fault)
    }

    fn replace(
        &mut self,
        name: &'static str,
        old: &[(MappedPrefix, u64)],
        new: &[(MappedPrefix, u64)],
    ) -> Result<(), HostError> {
        let fault = |reason| HostError::Map { name, reason };
        let key = |prefix: &MappedPrefix| Key::new(prefix.length, prefix.address.to_be_bytes());
        let mut trie: LpmTrie<_, [u8; 16], u64> = LpmTrie::try_from(self.map(name)?).map_err(fault)?;
        for (prefix, bits) in new {
            trie.insert(&key(prefix), bits, 0).map_err(fault)?;
        }
        let is_gone = |prefix: &MappedPrefix| {
            new.iter().all(|(other, _)| (other.address, other.length) != (prefix.address, prefix.length))
        };
        for (prefix, _) in old.iter().filter(|(prefix, _)| is_gone(prefix)) {
            trie.remove(&key(prefix)).map_err(fault)?;
        }
        Ok(())
    }

    fn map(&mut self, name: &'static str) -> Result<&mut Map, HostError> {
        self.ebpf.map_mut(name).ok_or(HostError::Missing(name))
    }
}
