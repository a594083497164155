//! The interfaces of the switch, as the programs know them.

use std::fmt;

use aya::Ebpf;
use aya::maps::{Array, HashMap, MapData, MapError};
use zerocopy::IntoBytes;

use super::abi::PortSettings;

/// The maps of interfaces.
pub(super) struct Ports {
    /// By number. An array is changed in place, so that a program at work never reads another interface's
    /// settings.
    settings: Array<MapData, [u8; size_of::<PortSettings>()]>,
    /// The number of each interface by the index of its device.
    numbers: HashMap<MapData, u32, u32>,
    /// The same without a hash, at the index modulo the size; a number may be another device's.
    near: Array<MapData, u32>,
}

impl Ports {
    /// Takes the maps; `None`: they are missing.
    ///
    /// # Errors
    /// They are of another kind.
    pub(super) fn of(ebpf: &mut Ebpf) -> Result<Option<Self>, MapError> {
        let mut take = |name| ebpf.take_map(name);
        let (Some(settings), Some(numbers), Some(near)) = (take("PORTS"), take("NUMBERS"), take("NEAR"))
        else {
            return Ok(None);
        };
        Ok(Some(Self {
            settings: settings.try_into()?,
            numbers: numbers.try_into()?,
            near: near.try_into()?,
        }))
    }

    /// Makes the device with this index an interface, or changes its settings.
    ///
    /// # Errors
    /// An error of the kernel.
    pub(super) fn set(&mut self, device: u32, settings: &PortSettings) -> Result<(), MapError> {
        let mut bytes = [0; size_of::<PortSettings>()];
        bytes.copy_from_slice(settings.as_bytes());
        self.settings.set(settings.number(), bytes, 0)?;
        self.near.set(device % self.near.len(), settings.number(), 0)?;
        match self.numbers.get(&device, 0) {
            Ok(number) if number == settings.number() => Ok(()),
            _ => self.numbers.insert(device, settings.number(), 0),
        }
    }

    /// Makes the device with this index no interface any more; nothing happens if it is none.
    pub(super) fn forget(&mut self, device: u32) {
        let _ = self.numbers.remove(&device);
        let _ = self.near.set(device % self.near.len(), NO_NUMBER, 0);
    }
}

/// Of no interface.
const NO_NUMBER: u32 = u32::MAX;

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ports").finish_non_exhaustive()
    }
}
