//! The drop reasons of the running kernel.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use super::btf::{BtfError, enumerators};
use super::causes::Cause;
use crate::error::HostError;

/// The reasons of a kernel, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Reasons {
    names: BTreeMap<u32, String>,
}

const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";
/// Maximum bytes of types that are read; kernels have about six million.
const MAX_BYTES: u64 = 64 << 20;
/// Where a reason's number holds its subsystem; 0 is the kernel's core.
const SUBSYSTEM_SHIFT: u32 = 16;

impl Reasons {
    /// Reads the reasons from the running kernel.
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

    /// The kernel's name of the reason, such as `NO_SOCKET`; its number where the name is unknown.
    pub(super) fn name(&self, number: u32) -> String {
        match (self.names.get(&number), number >> SUBSYSTEM_SHIFT) {
            (Some(name), _) => name.clone(),
            (None, 0) => format!("reason {number}"),
            (None, subsystem) => format!("subsystem {subsystem}, reason {}", number & 0xffff),
        }
    }

    /// The meaning of the reason.
    pub(super) fn cause(&self, number: u32) -> Cause {
        self.names.get(&number).map_or(Cause::Unknown, |name| Cause::of(name))
    }

    /// Every reason, in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.names.iter().map(|(number, name)| (*number, name.as_str()))
    }
}

/// The name without the common prefix; `None`: not a reason, but the end or the width of the numbers.
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
