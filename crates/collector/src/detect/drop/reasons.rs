//! The meaning and consequence of drop reasons.

use inband_wire::drop_reason::Table;

use super::settings::DropSettings;

/// The meaning of each code, from the table and the configured reasons that override it.
#[derive(Debug)]
pub(super) struct Reasons {
    by_code: Vec<Meaning>,
    none: Meaning,
}

/// The meaning of a code.
#[derive(Debug, Clone)]
pub(super) struct Meaning {
    pub(super) name: String,
    pub(super) check: String,
    pub(super) consequence: Consequence,
}

/// The consequence of a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consequence {
    /// The node has no route or entry for the packet.
    ForwardingMiss,
    /// The queue had no room, or the port is down.
    QueueFull,
    /// An access list denies the packet.
    Denied,
    /// The TTL of the packet was used up.
    TtlZero,
    /// Any other.
    Other,
}

impl Reasons {
    pub(super) fn new(settings: &DropSettings) -> Reasons {
        let by_code = (0..=u8::MAX).map(|code| {
            let own = settings.reasons.iter().find(|reason| reason.code == code);
            match (own, settings.table.get(code)) {
                (Some(own), _) => Meaning::new(settings.table, code, &own.name, &own.check),
                (None, Some(reason)) => Meaning::new(settings.table, code, reason.name, reason.check),
                (None, None) => Meaning::new(settings.table, code, UNKNOWN, NO_CHECK),
            }
        });
        let none =
            Meaning { name: UNKNOWN.to_owned(), check: NO_CHECK.to_owned(), consequence: Consequence::Other };
        Reasons { by_code: by_code.collect(), none }
    }

    /// The meaning of a code; without a code, an unknown reason.
    pub(super) fn of(&self, code: Option<u8>) -> &Meaning {
        code.and_then(|code| self.by_code.get(usize::from(code))).unwrap_or(&self.none)
    }
}

impl Meaning {
    fn new(table: Table, code: u8, name: &str, check: &str) -> Meaning {
        let consequence = match name {
            _ if name.ends_with("ttl-zero") => Consequence::TtlZero,
            _ if name.ends_with("-deny") => Consequence::Denied,
            "blackhole" | "next-hop" | "routing-v4-drop" | "routing-v6-drop" => Consequence::ForwardingMiss,
            _ if name.ends_with("-miss") => Consequence::ForwardingMiss,
            _ if code == table.tail_drop() => Consequence::QueueFull,
            _ => Consequence::Other,
        };
        Meaning { name: name.to_owned(), check: check.to_owned(), consequence }
    }
}

const UNKNOWN: &str = "unknown";
const NO_CHECK: &str = "the device's own counters and logs";
