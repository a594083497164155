//! The domain-specific instructions a node knows.

use serde::Deserialize;
use serde::de::{Deserializer, Error, IntoDeserializer};

use super::number::hex_bytes;
use crate::device_counters::DeviceCounter;

/// `[[domain]]`: the instructions of one Domain Specific ID.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DomainConfig {
    /// Domain Specific ID, 0x0001 to 0xffff.
    pub id: u16,
    /// DS Flags that this node sets, as a transit hop, in packets of this domain; default 0: none.
    #[serde(default)]
    pub set_flags: u16,
    /// The metadata of its instruction bits.
    #[serde(default)]
    pub metadata: Vec<DomainMetadata>,
}

/// `[[domain.metadata]]`: the metadata of one DS Instruction bit.
// int-2.1/mx-08: the definition of a bit states its mode, reporting requirement and mutability.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DomainMetadata {
    /// Bit of DS Instruction, 0 (most significant) to 15.
    pub bit: u8,
    /// Display name.
    #[serde(default)]
    pub name: String,
    /// Length, words; default 1.
    #[serde(default = "one_word")]
    pub words: u8,
    /// The node that inserts it, and where; default `source-only`.
    #[serde(default)]
    pub placement: Placement,
    /// Which nodes report it, if a source inserts it into INT-MX packets; default `all-nodes`.
    #[serde(default)]
    pub reporting: Reporting,
    /// Whether nodes after the source may change it; default `source-only`.
    #[serde(default)]
    pub mutability: Mutability,
    /// The value this node writes; default: not available.
    #[serde(default)]
    pub value: Value,
}

/// Which node inserts domain-specific metadata, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// INT-MD: the source, at the bottom of the stack.
    #[default]
    SourceOnly,
    /// INT-MD: every hop, after its baseline metadata.
    EveryHop,
    /// INT-MX: every node, in its report.
    Export,
    /// INT-MX: the source, after the header.
    SourceInserted,
}

/// Which nodes report source-inserted metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reporting {
    /// Every node.
    #[default]
    AllNodes,
    /// The sink.
    SinkNode,
    /// None.
    None,
}

/// Whether nodes after the source may change source-inserted metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mutability {
    /// They may not.
    #[default]
    SourceOnly,
    /// They may.
    Cumulative,
}

/// The value a node writes for domain-specific metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Value {
    /// Nothing: all ones in a packet, left out of a report.
    #[default]
    NotAvailable,
    /// A constant.
    Constant(Vec<u8>),
    /// The source MAC address, zero-padded.
    EthernetSource,
    /// A counter of the packets this node starts INT in; the first is 1.
    SequenceNumber,
    /// A counter of the packets of each flow that this node starts INT in; the first is 1. A sink configured
    /// with the same domain detects losses from it.
    FlowSequence,
    /// A hash of the five-tuple.
    FlowId,
    /// This node's id.
    NodeId,
    /// A counter of the device.
    Counter(DeviceCounter),
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            "ethernet-source" => Ok(Self::EthernetSource),
            "sequence-number" => Ok(Self::SequenceNumber),
            "flow-sequence" => Ok(Self::FlowSequence),
            "flow-id" => Ok(Self::FlowId),
            "node-id" => Ok(Self::NodeId),
            name => {
                let counter: Result<_, serde::de::value::Error> =
                    DeviceCounter::deserialize(name.into_deserializer());
                let value = counter.ok().map(Self::Counter);
                value.or_else(|| hex_bytes(name).map(Self::Constant)).ok_or_else(|| {
                    D::Error::custom(format_args!(
                        "unknown value `{name}`, expected hexadecimal bytes or one of `ethernet-source`, \
                         `sequence-number`, `flow-sequence`, `flow-id`, `node-id`, `state-version`, \
                         `rx-packets`, `rx-bytes`, `rx-drops`, `tx-packets`, `tx-bytes`, `tx-drops`"
                    ))
                })
            }
        }
    }
}

const fn one_word() -> u8 {
    1
}
