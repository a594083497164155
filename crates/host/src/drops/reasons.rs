//! Which reasons to drop a packet does this kernel have?

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use super::btf::{BtfError, enumerators};
use super::causes::Cause;
use crate::error::HostError;

/// The reasons of a kernel, by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Reasons {
    names: BTreeMap<u32, String>,
}

const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";
/// Most bytes of types that are read; kernels have about six million.
const MAX_BYTES: u64 = 64 << 20;
/// The number of the subsystem that a reason of its own is of, in the upper half; 0 is the kernel's core.
const SUBSYSTEM_SHIFT: u32 = 16;

impl Reasons {
    /// Reads them from the running kernel.
    ///
    /// # Errors
    /// A kernel without a description of its types, or before 5.17, which gives no reasons.
    pub(super) fn of_this_kernel() -> Result<Self, HostError> {
        let fault = |reason| HostError::System { what: format!("read {KERNEL_TYPES}"), reason };
        let mut bytes = Vec::new();
        let file = File::open(KERNEL_TYPES).map_err(fault)?;
        file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(fault)?;
        Self::of_types(&bytes).map_err(HostError::KernelTypes)
    }

    fn of_types(types: &[u8]) -> Result<Self, BtfError> {
        let names = enumerators(types, "skb_drop_reason")?
            .into_iter()
            .filter_map(|(name, number)| Some((number, short(&name)?.to_owned())))
            .collect();
        Ok(Self { names })
    }

    /// The kernel's name of the reason, such as `NO_SOCKET`; the number of one that has none here.
    pub(super) fn name(&self, number: u32) -> String {
        match (self.names.get(&number), number >> SUBSYSTEM_SHIFT) {
            (Some(name), _) => name.clone(),
            (None, 0) => format!("reason {number}"),
            (None, subsystem) => format!("subsystem {subsystem}, reason {}", number & 0xffff),
        }
    }

    /// What it means.
    pub(super) fn cause(&self, number: u32) -> Cause {
        self.names.get(&number).map_or(Cause::Unknown, |name| Cause::of(name))
    }

    /// Every reason, by rising number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.names.iter().map(|(number, name)| (*number, name.as_str()))
    }
}

/// The name without what all have in common; `None`: it is no reason but the end or the width of the numbers.
fn short(name: &str) -> Option<&str> {
    let name = name.strip_prefix("SKB_")?;
    let name = name.strip_prefix("DROP_REASON_").unwrap_or(name);
    (!matches!(name, "MAX" | "SUBSYS_MASK")).then_some(name)
}

#[cfg(test)]
impl Reasons {
    pub(super) fn of_names(names: &[(u32, &str)]) -> Self {
        Self { names: names.iter().map(|(number, name)| (*number, (*name).to_owned())).collect() }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.values().map(String::as_str)
    }
}
