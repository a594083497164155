//! The domain-specific instructions this node knows, and their values.

use std::ops::Range;

use inband_wire::int::Domain;
use inband_wire::int::domain::set_bits;
use inband_wire::{FiveTuple, Words};

use crate::config::{DomainConfig, Mutability, NodeConfig, Placement, Reporting, Value};
use crate::device_counters::DeviceCounters;
use crate::error::ConfigError;

/// One domain with the values this node gives for its instructions.
#[derive(Clone, Debug)]
pub(crate) struct KnownDomain {
    /// Metadata lengths, and which node inserts what.
    pub(crate) wire: Domain,
    /// Source-inserted metadata that every node reports.
    pub(crate) for_all_nodes: u16,
    /// Source-inserted metadata that the sink reports.
    pub(crate) for_the_sink: u16,
    /// Source-inserted metadata that nodes after the source may change.
    pub(crate) cumulative: u16,
    /// DS Flags this node sets as a transit hop.
    pub(crate) set_flags: u16,
    /// Metadata that holds the packet's flow sequence number.
    pub(crate) flow_sequence: u16,
    values: [Value; 16],
}

/// The inputs of domain-specific values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ValueContext {
    pub(crate) ethernet_source: Option<[u8; 6]>,
    pub(crate) sequence_number: Option<u32>,
    pub(crate) flow_sequence: Option<u32>,
    pub(crate) node_id: Option<u32>,
    pub(crate) flow: FiveTuple,
    pub(crate) counters: DeviceCounters,
}

/// The inputs of packets without domain-specific instructions, which use none.
pub(crate) static NO_VALUES: ValueContext = ValueContext {
    ethernet_source: None,
    sequence_number: None,
    flow_sequence: None,
    node_id: None,
    flow: FiveTuple::UNKNOWN,
    counters: DeviceCounters::NONE,
};

impl KnownDomain {
    /// # Errors
    /// An id of 0, a bit that is out of range or given twice, a length of 0, or a constant of the wrong
    /// length.
    pub(crate) fn new(config: &DomainConfig) -> Result<Self, ConfigError> {
        // int-2.1/md-14, int-2.1/md-15, int-2.1/mx-06, int-2.1/mx-07: domain 0 is shared by all and defines
        // no instruction.
        if config.id == 0 {
            return Err(ConfigError::out_of_range("domain.id", 0, "0x0001 to 0xffff"));
        }
        let mut wire =
            Domain { id: config.id, words: [Words::default(); 16], source_only: 0, source_inserted: 0 };
        let mut values = <[Value; 16]>::default();
        let (mut for_all_nodes, mut for_the_sink, mut cumulative) = (0, 0, 0);
        for metadata in &config.metadata {
            let bit = usize::from(metadata.bit);
            let (Some(words), Some(value)) = (wire.words.get_mut(bit), values.get_mut(bit)) else {
                return Err(ConfigError::out_of_range("domain.metadata.bit", metadata.bit, "0 to 15"));
            };
            if words.count() != 0 {
                let key = format!("domain {:#06x} metadata bit", config.id);
                return Err(ConfigError::Twice { key, value: metadata.bit.to_string() });
            }
            if metadata.words == 0 {
                return Err(ConfigError::out_of_range("domain.metadata.words", 0, "1 to 255"));
            }
            if let Value::Constant(bytes) = &metadata.value
                && bytes.len() != usize::from(metadata.words) * 4
            {
                let found = format!("{} bytes long", bytes.len());
                let expected = format!("{} bytes, its length in words", usize::from(metadata.words) * 4);
                return Err(ConfigError::out_of_range("domain.metadata.value", found, expected));
            }
            *words = Words::new(metadata.words);
            *value = metadata.value.clone();
            if matches!(metadata.placement, Placement::SourceOnly | Placement::SourceInserted) {
                wire.source_only |= 0x8000 >> bit;
                wire.source_inserted |= 0x8000 >> bit;
                match metadata.reporting {
                    Reporting::AllNodes => for_all_nodes |= 0x8000 >> bit,
                    Reporting::SinkNode => for_the_sink |= 0x8000 >> bit,
                    Reporting::None => {}
                }
                if metadata.mutability == Mutability::Cumulative {
                    cumulative |= 0x8000 >> bit;
                }
            }
        }
        let set_flags = config.set_flags;
        let flow_sequence = (0..16).zip(&values).filter(|(_, value)| **value == Value::FlowSequence);
        let flow_sequence = flow_sequence.fold(0, |bits, (bit, _)| bits | 0x8000 >> bit);
        Ok(Self { wire, for_all_nodes, for_the_sink, cumulative, set_flags, flow_sequence, values })
    }

    /// Writes the values of the instructions `bits` in bit order, all ones if there is none; returns the
    /// number of bytes written to `out`.
    pub(crate) fn write(&self, bits: u16, context: &ValueContext, out: &mut [u8]) -> usize {
        // int-2.1/md-16, int-2.1/md-23: in the order of the bits, behind the baseline metadata.
        set_bits(bits).fold(0, |at, bit| {
            let end = at + self.wire.bit_words(bit).bytes();
            if let (Some(value), Some(out)) = (self.values.get(bit), out.get_mut(at..end)) {
                value.write(context, out);
            }
            end
        })
    }

    /// The part of `inserted`, the source-inserted metadata of an INT-MX packet with `ds_instruction`, for
    /// `bit`; `None` if the lengths do not match this node's configuration or the metadata is truncated.
    pub(crate) fn inserted<'a>(
        &self,
        ds_instruction: u16,
        bit: usize,
        inserted: &'a [u8],
    ) -> Option<&'a [u8]> {
        let range = self.inserted_range(ds_instruction, bit, inserted.len())?;
        inserted.get(range)
    }

    /// The range of `bit` in `length` bytes of source-inserted metadata.
    pub(crate) fn inserted_range(
        &self,
        ds_instruction: u16,
        bit: usize,
        length: usize,
    ) -> Option<Range<usize>> {
        let all = ds_instruction & self.wire.source_inserted;
        let mask = 0x8000_u16.checked_shr(u32::try_from(bit).ok()?)?;
        if all & mask == 0 || self.wire.source_inserted_words(all)?.bytes() != length {
            return None;
        }
        // The bits before this one are the more significant ones.
        let start = self.wire.source_inserted_words(all & !(mask | (mask - 1)))?.bytes();
        Some(start..start + self.wire.bit_words(bit).bytes())
    }

    /// The source's node id and flow sequence number in a packet; `None` without a flow sequence number.
    ///
    /// `inserted` is the source-inserted metadata of an INT-MX packet with `ds_instruction`, or the
    /// source-only metadata of an INT-MD packet, which the same bits announce.
    pub(crate) fn numbered(&self, ds_instruction: u16, inserted: &[u8]) -> Option<(Option<u32>, u32)> {
        let word = |bit| {
            let (_, low) = self.inserted(ds_instruction, bit, inserted)?.split_last_chunk::<4>()?;
            Some(u32::from_be_bytes(*low))
        };
        let first = |value: &Value| {
            let bits = (0..16).zip(&self.values).filter(|(_, known)| *known == value);
            bits.filter_map(|(bit, _)| word(bit)).next()
        };
        let node_id = first(&Value::NodeId).filter(|id| *id != u32::MAX);
        Some((node_id, first(&Value::FlowSequence)?))
    }

    /// The subset of `bits` for which this node has a value.
    pub(crate) fn available(&self, bits: u16, context: &ValueContext) -> u16 {
        set_bits(bits)
            .filter(|bit| self.values.get(*bit).is_some_and(|value| value.is_available(context)))
            .fold(0, |bits, bit| bits | 0x8000 >> bit)
    }
}

impl Value {
    fn is_available(&self, context: &ValueContext) -> bool {
        match self {
            Self::NotAvailable => false,
            Self::Constant(_) | Self::FlowId => true,
            Self::EthernetSource => context.ethernet_source.is_some(),
            Self::SequenceNumber => context.sequence_number.is_some(),
            Self::FlowSequence => context.flow_sequence.is_some(),
            Self::NodeId => context.node_id.is_some(),
            Self::Counter(counter) => context.counters.get(*counter).is_some(),
        }
    }

    /// Numbers are right-aligned, addresses left-aligned and zero-padded.
    fn write(&self, context: &ValueContext, out: &mut [u8]) {
        let number = |number: Option<u32>, out: &mut [u8]| write_number(number.map(u64::from), out);
        match self {
            Self::NotAvailable => out.fill(0xff),
            Self::Constant(bytes) => {
                for (to, from) in out.iter_mut().zip(bytes) {
                    *to = *from;
                }
            }
            Self::EthernetSource => match context.ethernet_source {
                Some(address) => {
                    let padded = address.into_iter().chain(std::iter::repeat(0));
                    for (to, from) in out.iter_mut().zip(padded) {
                        *to = from;
                    }
                }
                None => out.fill(0xff),
            },
            Self::SequenceNumber => number(context.sequence_number, out),
            Self::FlowSequence => number(context.flow_sequence, out),
            Self::NodeId => number(context.node_id, out),
            Self::FlowId => number(Some(context.flow.entropy()), out),
            Self::Counter(counter) => {
                let counted = context.counters.get(*counter);
                // All ones mean that it is not available.
                let longest = if out.len() == 4 { u64::from(u32::MAX) } else { u64::MAX };
                write_number(counted.map(|value| (value & longest).min(longest - 1)), out);
            }
        }
    }
}

/// Writes the least significant bytes of a number, right-aligned; all ones if there is none.
fn write_number(number: Option<u64>, out: &mut [u8]) {
    let Some(number) = number else { return out.fill(0xff) };
    let bytes = number.to_le_bytes().into_iter().chain(std::iter::repeat(0));
    for (to, from) in out.iter_mut().rev().zip(bytes) {
        *to = from;
    }
}

/// The domains a node knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownDomains(Vec<KnownDomain>);

impl KnownDomains {
    /// # Errors
    /// A domain that is given twice or is invalid.
    pub(crate) fn new(configs: &[DomainConfig]) -> Result<Self, ConfigError> {
        let mut domains: Vec<KnownDomain> = Vec::with_capacity(configs.len());
        for config in configs {
            if domains.iter().any(|domain| domain.wire.id == config.id) {
                let value = format!("{:#06x}", config.id);
                return Err(ConfigError::Twice { key: "domain.id".to_owned(), value });
            }
            domains.push(KnownDomain::new(config)?);
        }
        Ok(Self(domains))
    }

    /// The domains, as needed to read packets.
    pub(crate) fn wire(&self) -> impl Iterator<Item = Domain> {
        self.0.iter().map(|domain| domain.wire)
    }

    /// Whether a value is a counter of the device.
    pub(crate) fn read_counters(&self) -> bool {
        let mut values = self.0.iter().flat_map(|domain| &domain.values);
        values.any(|value| matches!(value, Value::Counter(_)))
    }

    #[inline]
    pub(crate) fn get(&self, id: u16) -> Option<&KnownDomain> {
        self.0.iter().find(|domain| domain.wire.id == id)
    }
}

impl NodeConfig {
    /// The domain-specific instructions of [`NodeConfig::domains`], as needed to read packets.
    ///
    /// # Errors
    /// A domain that is given twice or is invalid.
    pub fn wire_domains(&self) -> Result<Vec<Domain>, ConfigError> {
        Ok(KnownDomains::new(&self.domains)?.wire().collect())
    }
}
