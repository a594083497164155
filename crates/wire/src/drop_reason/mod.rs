//! The meaning of drop reasons.
//!
//! Reports have eight bits for the drop reason and leave its meaning to the node. These are the tables of
//! deployed nodes; they contradict each other, so a code means nothing without the table of its node.

mod host;
mod p4lang_switch;
mod reason;
mod sd_fabric;
mod shared;
mod switch_p4_16;

pub use reason::Reason;

/// The numbering of drop reasons that a node follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Table {
    /// SD-Fabric, release 1.1 and later.
    #[default]
    SdFabric1_1,
    /// SD-Fabric, release 1.0.
    SdFabric1_0,
    /// The reference switch of the Tofino SDE, open-p4studio.
    SwitchP4_16,
    /// p4lang/switch, which the report specifications name as an example.
    P4langSwitch,
}

impl Table {
    /// All tables, the default first.
    pub const ALL: [Self; 4] = [Self::SdFabric1_1, Self::SdFabric1_0, Self::SwitchP4_16, Self::P4langSwitch];

    /// The name that users write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SdFabric1_1 => "sd-fabric-1.1",
            Self::SdFabric1_0 => "sd-fabric-1.0",
            Self::SwitchP4_16 => "switch-p4-16",
            Self::P4langSwitch => "p4lang-switch",
        }
    }

    /// The table with this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }

    /// All reasons of the table, by ascending code.
    #[must_use]
    pub const fn reasons(self) -> &'static [Reason] {
        match self {
            Self::SdFabric1_1 => &sd_fabric::V1_1,
            Self::SdFabric1_0 => &sd_fabric::V1_0,
            Self::SwitchP4_16 => &switch_p4_16::REASONS,
            Self::P4langSwitch => &p4lang_switch::REASONS,
        }
    }

    /// The reason with this code; codes missing from the table are looked up among those of hosts.
    #[must_use]
    pub fn get(self, code: u8) -> Option<&'static Reason> {
        find(self.reasons(), code).or_else(|| find(&host::REASONS, code))
    }

    /// The code for a packet dropped because its queue was full.
    #[must_use]
    pub const fn tail_drop(self) -> u8 {
        match self {
            Self::SdFabric1_1 | Self::SdFabric1_0 | Self::SwitchP4_16 => 71,
            Self::P4langSwitch => 51,
        }
    }
}

fn find(reasons: &'static [Reason], code: u8) -> Option<&'static Reason> {
    let at = reasons.binary_search_by_key(&code, |reason| reason.code).ok()?;
    reasons.get(at)
}

#[cfg(test)]
mod tests;
