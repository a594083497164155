//! Access to the programs' maps.

use std::io::ErrorKind;

use aya::Ebpf;
use aya::maps::lpm_trie::Key;
use aya::maps::{Array, LpmTrie, Map, MapError, PerCpuArray};

use crate::abi::Rules;
use crate::error::HostError;
use crate::rules::{MappedPrefix, RuleSet};

/// Writes entry `index` of the array `name`.
pub(crate) fn set<const N: usize>(
    ebpf: &mut Ebpf,
    name: &'static str,
    index: u32,
    value: [u8; N],
) -> Result<(), HostError> {
    let fault = |reason| HostError::Map { name, reason };
    let mut array: Array<_, [u8; N]> = Array::try_from(map(ebpf, name)?).map_err(fault)?;
    array.set(index, value, 0).map_err(fault)
}

/// Replaces the watchlist `old` by `new`: prefixes first, so that no rule is used without them.
pub(crate) fn watch(ebpf: &mut Ebpf, old: &RuleSet, new: &RuleSet) -> Result<(), HostError> {
    replace(ebpf, "SOURCES", &old.sources, &new.sources)?;
    replace(ebpf, "DESTINATIONS", &old.destinations, &new.destinations)?;
    let bytes: [u8; size_of::<Rules>()] = zerocopy::transmute!(new.rules);
    set(ebpf, "RULES", 0, bytes)
}

/// The sum of entry `index` of the counters `name` over all processors.
pub(crate) fn sum(ebpf: &Ebpf, name: &'static str, index: u32) -> Result<u64, HostError> {
    let fault = |reason| HostError::Map { name, reason };
    let map = ebpf.map(name).ok_or(HostError::Missing(name))?;
    let counters: PerCpuArray<_, u64> = PerCpuArray::try_from(map).map_err(fault)?;
    let values = counters.get(&index, 0).map_err(fault)?;
    Ok(values.iter().sum())
}

/// The sum of entry `index` of the volumes `name` over all processors: packets and bytes.
pub(crate) fn volume(ebpf: &Ebpf, name: &'static str, index: u32) -> Result<[u64; 2], HostError> {
    let fault = |reason| HostError::Map { name, reason };
    let map = ebpf.map(name).ok_or(HostError::Missing(name))?;
    let volumes: PerCpuArray<_, [u64; 2]> = PerCpuArray::try_from(map).map_err(fault)?;
    let values = volumes.get(&index, 0).map_err(fault)?;
    Ok(values.iter().fold([0; 2], |sum, value| [sum[0] + value[0], sum[1] + value[1]]))
}

/// The map `name`.
pub(crate) fn map<'a>(ebpf: &'a mut Ebpf, name: &'static str) -> Result<&'a mut Map, HostError> {
    ebpf.map_mut(name).ok_or(HostError::Missing(name))
}

fn replace(
    ebpf: &mut Ebpf,
    name: &'static str,
    old: &[(MappedPrefix, u64)],
    new: &[(MappedPrefix, u64)],
) -> Result<(), HostError> {
    let fault = |reason| HostError::Map { name, reason };
    let key = |prefix: &MappedPrefix| Key::new(prefix.length, prefix.address.to_be_bytes());
    let mut trie: LpmTrie<_, [u8; 16], u64> = LpmTrie::try_from(map(ebpf, name)?).map_err(fault)?;
    for (prefix, bits) in new {
        trie.insert(&key(prefix), bits, 0).map_err(fault)?;
    }
    let is_gone = |prefix: &MappedPrefix| {
        new.iter().all(|(other, _)| (other.address, other.length) != (prefix.address, prefix.length))
    };
    for (prefix, _) in old.iter().filter(|(prefix, _)| is_gone(prefix)) {
        absent_or(trie.remove(&key(prefix))).map_err(fault)?;
    }
    Ok(())
}

/// A missing entry is no error of a removal.
pub(crate) fn absent_or(removed: Result<(), MapError>) -> Result<(), MapError> {
    match removed {
        Err(MapError::KeyNotFound) => Ok(()),
        Err(MapError::SyscallError(error)) if error.io_error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
