//! Actions on watched packets.

use std::fmt;
use std::ops::BitOr;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

/// The set of actions of a flow watchlist entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Actions(u8);

impl Actions {
    /// No action: the packet is treated as unwatched.
    pub const NONE: Self = Self(0);
    /// Start INT in it, in modes MD and MX.
    pub const START_INT: Self = Self(1);
    /// Report it as a packet of a tracked flow, in mode XD.
    pub const REPORT_FLOW: Self = Self(2);
    /// Report it if the device drops it, in every mode.
    pub const REPORT_DROPS: Self = Self(4);
    /// Every action.
    pub const ALL: Self = Self(7);

    /// Whether all of `actions` are in the set.
    #[inline]
    #[must_use]
    pub const fn contain(self, actions: Self) -> bool {
        self.0 & actions.0 == actions.0
    }

    /// The subset that applies to drops.
    #[must_use]
    pub const fn of_drops(self) -> Self {
        Self(self.0 & Self::REPORT_DROPS.0)
    }

    fn by_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, actions)| *actions)
    }
}

const NAMES: [(&str, Actions); 5] = [
    ("all", Actions::ALL),
    ("start-int", Actions::START_INT),
    ("report-flow", Actions::REPORT_FLOW),
    ("report-drops", Actions::REPORT_DROPS),
    ("none", Actions::NONE),
];

impl BitOr for Actions {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl<'de> Deserialize<'de> for Actions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ActionsVisitor)
    }
}

/// Reads one name or a list of them.
struct ActionsVisitor;

impl<'de> Visitor<'de> for ActionsVisitor {
    type Value = Actions;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an action or a list of actions")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Actions, E> {
        Actions::by_name(name).ok_or_else(|| {
            let names: Vec<_> = NAMES.iter().map(|(name, _)| format!("`{name}`")).collect();
            E::custom(format_args!("unknown action `{name}`, expected one of {}", names.join(", ")))
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Actions, A::Error> {
        let mut actions = Actions::NONE;
        while let Some(name) = names.next_element::<String>()? {
            actions = actions | Self.visit_str(&name)?;
        }
        Ok(actions)
    }
}
