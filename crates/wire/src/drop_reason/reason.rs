//! One reason to drop a packet, as a table lists it.

/// One reason to drop a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The code in reports.
    pub code: u8,
    /// A short name, in kebab case.
    pub name: &'static str,
    /// What happened to the packet.
    pub meaning: &'static str,
    /// What to check when it happens.
    pub check: &'static str,
}

/// Creates a row of a table.
pub(super) const fn reason(
    code: u8,
    name: &'static str,
    meaning: &'static str,
    check: &'static str,
) -> Reason {
    Reason { code, name, meaning, check }
}
