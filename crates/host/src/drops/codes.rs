//! The codes that reports give for the kernel's drop reasons.

use std::collections::BTreeMap;

use inband_node::config::DropReasonsConfig;
use inband_wire::drop_reason::Table;

use super::causes::Hints;
use super::reasons::Reasons;

/// The codes of the configured table, and those configured under a kernel name.
#[derive(Clone, Debug, Default)]
pub(super) struct Codes {
    table: Table,
    own: BTreeMap<u32, u8>,
}

impl Codes {
    /// Codes where a `[[drop_reasons.reason]]` with a kernel name, such as `no-socket` for `NO_SOCKET`, sets
    /// that reason's code.
    pub(super) fn new(config: &DropReasonsConfig, reasons: &Reasons) -> Self {
        let own = |name: &str| config.reasons.iter().find(|reason| is_same(&reason.name, name));
        let own = reasons.iter().filter_map(|(number, name)| Some((number, own(name)?.code))).collect();
        Self { table: config.table, own }
    }

    /// The code for the kernel's reason.
    pub(super) fn code(&self, reasons: &Reasons, number: u32, hints: Hints) -> u8 {
        let of_table = || reasons.cause(number).with(hints).code(self.table);
        self.own.get(&number).copied().unwrap_or_else(of_table)
    }
}

/// Whether a name as users write it, such as `no-socket`, is the kernel's `NO_SOCKET`.
fn is_same(written: &str, kernel: &str) -> bool {
    written.len() == kernel.len()
        && written.bytes().zip(kernel.bytes()).all(|(written, kernel)| match written {
            b'-' => kernel == b'_',
            _ => written.eq_ignore_ascii_case(&kernel),
        })
}

#[cfg(test)]
mod tests;
