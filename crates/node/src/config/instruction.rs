//! What are the instructions called?

use serde::de::{Deserialize, Deserializer, Error};

use inband_wire::int::Instructions;

/// A baseline instruction by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instruction {
    /// `node-id`
    NodeId,
    /// `level1-interfaces`
    Level1Interfaces,
    /// `hop-latency`
    HopLatency,
    /// `queue-occupancy`
    QueueOccupancy,
    /// `ingress-timestamp`
    IngressTimestamp,
    /// `egress-timestamp`
    EgressTimestamp,
    /// `level2-interfaces`
    Level2Interfaces,
    /// `egress-utilization`
    EgressUtilization,
    /// `buffer-occupancy`
    BufferOccupancy,
    /// `checksum-complement`
    ChecksumComplement,
}

impl Instruction {
    /// All instructions, in the order of their bits.
    pub const ALL: [Self; 10] = [
        Self::NodeId,
        Self::Level1Interfaces,
        Self::HopLatency,
        Self::QueueOccupancy,
        Self::IngressTimestamp,
        Self::EgressTimestamp,
        Self::Level2Interfaces,
        Self::EgressUtilization,
        Self::BufferOccupancy,
        Self::ChecksumComplement,
    ];

    /// The name users write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NodeId => "node-id",
            Self::Level1Interfaces => "level1-interfaces",
            Self::HopLatency => "hop-latency",
            Self::QueueOccupancy => "queue-occupancy",
            Self::IngressTimestamp => "ingress-timestamp",
            Self::EgressTimestamp => "egress-timestamp",
            Self::Level2Interfaces => "level2-interfaces",
            Self::EgressUtilization => "egress-utilization",
            Self::BufferOccupancy => "buffer-occupancy",
            Self::ChecksumComplement => "checksum-complement",
        }
    }

    /// The instruction's bit.
    #[must_use]
    pub const fn bit(self) -> Instructions {
        match self {
            Self::NodeId => Instructions::NODE_ID,
            Self::Level1Interfaces => Instructions::INTERFACES,
            Self::HopLatency => Instructions::HOP_LATENCY,
            Self::QueueOccupancy => Instructions::QUEUE,
            Self::IngressTimestamp => Instructions::INGRESS_TIMESTAMP,
            Self::EgressTimestamp => Instructions::EGRESS_TIMESTAMP,
            Self::Level2Interfaces => Instructions::LEVEL2_INTERFACES,
            Self::EgressUtilization => Instructions::EGRESS_UTILIZATION,
            Self::BufferOccupancy => Instructions::BUFFER,
            Self::ChecksumComplement => Instructions::CHECKSUM_COMPLEMENT,
        }
    }
}

/// A list of instructions; one error names everything in it that does not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructionList(Vec<Instruction>);

impl InstructionList {
    /// The bitmap of all instructions in the list.
    #[must_use]
    pub fn bitmap(&self) -> Instructions {
        self.0.iter().fold(Instructions::default(), |bitmap, instruction| bitmap | instruction.bit())
    }

    /// Whether the list holds `instruction`.
    #[must_use]
    pub fn contains(&self, instruction: Instruction) -> bool {
        self.0.contains(&instruction)
    }
}

impl FromIterator<Instruction> for InstructionList {
    fn from_iter<I: IntoIterator<Item = Instruction>>(instructions: I) -> Self {
        Self(instructions.into_iter().collect())
    }
}

impl<'de> Deserialize<'de> for InstructionList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        let find = |name: &str| Instruction::ALL.into_iter().find(|instruction| instruction.name() == name);
        let unknown: Vec<_> = names.iter().filter(|name| find(name).is_none()).collect();
        if unknown.is_empty() {
            return Ok(names.iter().filter_map(|name| find(name)).collect());
        }
        let quoted =
            |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let plural = if unknown.len() == 1 { "" } else { "s" };
        let unknown = quoted(unknown.iter().map(|name| name.as_str()).collect());
        let known = quoted(Instruction::ALL.iter().map(|instruction| instruction.name()).collect());
        Err(D::Error::custom(format_args!("unknown instruction{plural} {unknown}, expected one of {known}")))
    }
}
