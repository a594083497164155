//! Instructions by name.

use serde::de::{Deserialize, Deserializer, Error};

use inband_wire::int::Instructions;

/// A baseline instruction by name; the last three exist only in versions before 2.0.
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
    /// `ingress-interface`, of 2016
    IngressInterface,
    /// `egress-interface`, of 2016
    EgressInterface,
    /// `queue-congestion`, of 2016 and 0.5
    QueueCongestion,
}

impl Instruction {
    /// All instructions; those of 2.1 in bit order.
    pub const ALL: [Self; 13] = [
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
        Self::IngressInterface,
        Self::EgressInterface,
        Self::QueueCongestion,
    ];

    /// The baseline instructions of INT 2.1, in bit order.
    pub const OF_2_1: [Self; 10] = *Self::ALL.first_chunk().expect("all instructions are 13");

    /// The name in configuration files.
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
            Self::IngressInterface => "ingress-interface",
            Self::EgressInterface => "egress-interface",
            Self::QueueCongestion => "queue-congestion",
        }
    }

    /// The instruction's bit; none if 2.1 does not have it.
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
            Self::IngressInterface | Self::EgressInterface | Self::QueueCongestion => Instructions(0),
        }
    }
}

/// A list of instructions; a single error names every unknown one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructionList(Vec<Instruction>);

impl InstructionList {
    /// The bitmap of all instructions in the list.
    #[must_use]
    pub fn bitmap(&self) -> Instructions {
        self.0.iter().fold(Instructions::default(), |bitmap, instruction| bitmap | instruction.bit())
    }

    /// The first instruction in the list that 2.1 does not have.
    #[must_use]
    pub fn first_before_2(&self) -> Option<Instruction> {
        self.0.iter().copied().find(|instruction| instruction.bit() == Instructions(0))
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
