//! The programs' tables of peers, leases and flows with a proof.

use std::net::IpAddr;
use std::path::Path;

use aya::maps::lpm_trie::Key;
use aya::maps::{Array, HashMap, LpmTrie, Map, MapData, MapError, MapInfo};

use crate::abi::{Address, FlowKey, MAX_WITNESSES, Peer, Proof, SlicedFlow, Witness, unmapped};
use crate::error::HostError;
use crate::lease::Flow;
use crate::maps::{self, absent_or};
use crate::peers::{ENDED_ALWAYS, Flags};
use crate::programs::Programs;
use crate::rules::MappedPrefix;

const FLOW: usize = size_of::<FlowKey>();
const ADDRESS: usize = size_of::<Address>();
const SLICED: usize = size_of::<SlicedFlow>();

impl Programs {
    /// Sets what holds for the hosts behind `prefix`.
    pub(crate) fn set_peer(&mut self, prefix: &MappedPrefix, flags: Flags) -> Result<(), HostError> {
        let fault = |reason| HostError::Map { name: "PEERS", reason };
        let peer = Peer { flags, padding: 0 };
        let bytes: [u8; size_of::<Peer>()] = zerocopy::transmute!(peer);
        let mut peers: LpmTrie<_, [u8; 16], [u8; size_of::<Peer>()]> =
            LpmTrie::try_from(self.map("PEERS")?).map_err(fault)?;
        peers.insert(&Key::new(prefix.length, prefix.address.to_be_bytes()), bytes, 0).map_err(fault)
    }

    /// Removes `prefix` from the peers; a missing one is no error.
    pub(crate) fn remove_peer(&mut self, prefix: &MappedPrefix) -> Result<(), HostError> {
        let fault = |reason| HostError::Map { name: "PEERS", reason };
        let mut peers: LpmTrie<_, [u8; 16], [u8; size_of::<Peer>()]> =
            LpmTrie::try_from(self.map("PEERS")?).map_err(fault)?;
        absent_or(peers.remove(&Key::new(prefix.length, prefix.address.to_be_bytes()))).map_err(fault)
    }

    /// Allows packets of `flow` to have INT as `proof` defines.
    pub(crate) fn set_proof(&mut self, flow: &Flow, proof: Proof) -> Result<(), HostError> {
        let fault = |reason| HostError::Map { name: "PROOFS", reason };
        let key: [u8; FLOW] = zerocopy::transmute!(flow.key());
        let bytes: [u8; size_of::<Proof>()] = zerocopy::transmute!(proof);
        let mut proofs: HashMap<_, [u8; FLOW], [u8; size_of::<Proof>()]> =
            HashMap::try_from(self.map("PROOFS")?).map_err(fault)?;
        proofs.insert(key, bytes, 0).map_err(fault)
    }

    /// Ends INT in `flow`; a missing proof is no error.
    pub(crate) fn remove_proof(&mut self, flow: &Flow) -> Result<(), HostError> {
        let fault = |reason| HostError::Map { name: "PROOFS", reason };
        let key: [u8; FLOW] = zerocopy::transmute!(flow.key());
        let mut proofs: HashMap<_, [u8; FLOW], [u8; size_of::<Proof>()]> =
            HashMap::try_from(self.map("PROOFS")?).map_err(fault)?;
        absent_or(proofs.remove(&key)).map_err(fault)
    }

    /// Removes INT from packets of `address`, whose leases last at most `lease_ms`.
    pub(crate) fn grant(&mut self, address: IpAddr, lease_ms: u32) -> Result<(), HostError> {
        let fault = |reason| HostError::Map { name: "GRANTED", reason };
        let key: [u8; ADDRESS] = zerocopy::transmute!(Address::of(address));
        let mut granted: HashMap<_, [u8; ADDRESS], u32> =
            HashMap::try_from(self.map("GRANTED")?).map_err(fault)?;
        granted.insert(key, lease_ms, 0).map_err(fault)
    }

    /// Leaves INT in packets of `address` alone.
    pub(crate) fn revoke(&mut self, address: IpAddr) -> Result<(), HostError> {
        let fault = |reason| HostError::Map { name: "GRANTED", reason };
        let key: [u8; ADDRESS] = zerocopy::transmute!(Address::of(address));
        let mut granted: HashMap<_, [u8; ADDRESS], u32> =
            HashMap::try_from(self.map("GRANTED")?).map_err(fault)?;
        absent_or(granted.remove(&key)).map_err(fault)
    }

    /// Awaits a packet of `flow` on `device`; returns the flow's place, and whether the flow already held it.
    pub(crate) fn await_flow(&mut self, flow: &Flow, device: u32) -> Result<(u32, bool), HostError> {
        let key = flow.key();
        let is_known = self.has_come(flow, device)?.is_some();
        let bytes: [u8; size_of::<Witness>()] = zerocopy::transmute!(Witness { flow: key, device, seen: 0 });
        maps::set(self.ebpf_mut(), "WITNESSES", place(&key), bytes)?;
        Ok((place(&key), is_known))
    }

    /// The number of packets of `flow` that have left with INT; 0 for an unknown flow.
    pub(crate) fn sent_with_int(&mut self, flow: &Flow) -> Result<u64, HostError> {
        let fault = |reason| HostError::Map { name: "SLICED_FLOWS", reason };
        let key: [u8; FLOW] = zerocopy::transmute!(flow.key());
        let flows: HashMap<_, [u8; FLOW], [u8; SLICED]> =
            HashMap::try_from(self.map("SLICED_FLOWS")?).map_err(fault)?;
        match flows.get(&key, 0) {
            Ok(bytes) => {
                let sliced: SlicedFlow = zerocopy::transmute!(bytes);
                Ok(sliced.with_int)
            }
            Err(MapError::KeyNotFound) => Ok(0),
            Err(reason) => Err(fault(reason)),
        }
    }

    /// Whether a packet of `flow` has come in by `device`; `None`: another flow has taken its place.
    pub(crate) fn has_come(&mut self, flow: &Flow, device: u32) -> Result<Option<bool>, HostError> {
        let fault = |reason| HostError::Map { name: "WITNESSES", reason };
        let key = flow.key();
        let witnesses: Array<_, [u8; size_of::<Witness>()]> =
            Array::try_from(self.map("WITNESSES")?).map_err(fault)?;
        let witness: Witness = zerocopy::transmute!(witnesses.get(&place(&key), 0).map_err(fault)?);
        Ok(((witness.flow, witness.device) == (key, device)).then_some(witness.seen != 0))
    }
}

/// The addresses in the table of leases pinned at `path`, each with the longest lease, milliseconds.
///
/// # Errors
/// There is none, or it cannot be read.
pub(crate) fn granted_in(path: &Path) -> Result<Vec<(IpAddr, u32)>, MapError> {
    read_granted(Map::from_map_data(MapData::from_pin(path)?)?)
}

/// The prefixes in the table of peers pinned at `path` whose INT is removed without a lease.
///
/// # Errors
/// There is none, or it cannot be read.
pub(crate) fn ended_always_in(path: &Path) -> Result<Vec<MappedPrefix>, MapError> {
    let map = Map::from_map_data(MapData::from_pin(path)?)?;
    let peers: LpmTrie<_, [u8; 16], [u8; size_of::<Peer>()]> = LpmTrie::try_from(map)?;
    let is_ended = |bytes: [u8; size_of::<Peer>()]| {
        let peer: Peer = zerocopy::transmute!(bytes);
        peer.flags & ENDED_ALWAYS != 0
    };
    let found = peers.iter().filter_map(Result::ok).filter(|(_, peer)| is_ended(*peer));
    let prefix =
        |key: Key<[u8; 16]>| MappedPrefix::of_entry(u128::from_be_bytes(key.data()), key.prefix_len());
    Ok(found.map(|(key, _)| prefix(key)).collect())
}

/// The addresses in the table of leases of the kernel's program `id`; none if an earlier version has no such
/// table, or this user may not look for it.
pub(crate) fn granted_by(id: u32) -> Vec<(IpAddr, u32)> {
    let is_it = |program: &aya::programs::ProgramInfo| program.id() == id;
    let found = aya::programs::loaded_programs().filter_map(Result::ok).find(is_it);
    let ids = found.and_then(|program| program.map_ids().ok().flatten()).unwrap_or_default();
    let is_table = |id: &u32| MapInfo::from_id(*id).is_ok_and(|map| map.name_as_str() == Some("GRANTED"));
    let Some(table) = ids.into_iter().find(is_table) else { return Vec::new() };
    let map = MapData::from_id(table).and_then(Map::from_map_data);
    map.and_then(read_granted).unwrap_or_default()
}

fn read_granted(map: Map) -> Result<Vec<(IpAddr, u32)>, MapError> {
    let granted = HashMap::<_, [u8; ADDRESS], u32>::try_from(map)?;
    let address = |(key, lease_ms): ([u8; ADDRESS], u32)| {
        let address: Address = zerocopy::transmute!(key);
        (unmapped(address.bytes), lease_ms)
    };
    Ok(granted.iter().filter_map(Result::ok).map(address).collect())
}

/// The place of a flow in `WITNESSES`.
fn place(flow: &FlowKey) -> u32 {
    let last = |address: &Address| {
        let [.., a, b, c, d] = address.bytes;
        u32::from_ne_bytes([a, b, c, d])
    };
    let ([a, b], [c, d]) = (flow.source_port.to_bytes(), flow.destination_port.to_bytes());
    let mixed = last(&flow.source) ^ last(&flow.destination) ^ u32::from_ne_bytes([a, b, c, d]);
    let mixed = mixed ^ mixed >> 16;
    (mixed ^ mixed >> 8) % MAX_WITNESSES
}
