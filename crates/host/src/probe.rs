//! Tests of what the running kernel supports.

use std::io;

use aya::programs::tc::TcAttachOptions;
use aya::programs::{LinkOrder, SchedClassifier, TcAttachType};
use inband_linux::device;
use inband_linux::netlink::Netlink;
use inband_linux::verification::uninterrupted;
use inband_node::NodeConfig;

use crate::beside::{self, Beside};
use crate::config::HostInt;
use crate::drops::{self, Drops, Namespace};
use crate::error::HostError;
use crate::object;
use crate::pattern;
use crate::pins::Pins;
use crate::programs::{OBJECT, Program, Programs};
use crate::settings::HostSettings;
use crate::shim::Shim;

/// Loads the classifiers, and unloads them.
///
/// # Errors
/// Why the kernel refuses them.
pub fn programs() -> Result<(), HostError> {
    Programs::load(&HostInt::of(NodeConfig::new(0))).map(|_| ())
}

/// Loads the program that watches drops, attaches it for a moment, and unloads it.
///
/// # Errors
/// Why the kernel refuses it.
pub fn drops() -> Result<(), HostError> {
    Drops::load(&HostInt::of(NodeConfig::new(0)), &[Namespace::own()?])?.attach()
}

/// Attaches a classifier that passes everything to the interface, by a link, and removes it.
///
/// # Errors
/// Why the kernel refuses it.
pub fn links(interface: &str) -> Result<(), HostError> {
    let name = Program::Steer.name();
    let refused = |reason| HostError::Refused { name, reason };
    let mut ebpf = object::load(OBJECT, |_| ()).map_err(HostError::Object)?;
    let program = ebpf.program_mut(name).ok_or(HostError::Missing(name))?;
    let program: &mut SchedClassifier = program.try_into().map_err(refused)?;
    uninterrupted(|| program.load()).map_err(refused)?;
    let last = TcAttachOptions::TcxOrder(LinkOrder::default());
    program.attach_with_options(interface, TcAttachType::Egress, last).map(|_| ()).map_err(refused)
}

/// Creates a shim in this thread's network namespace, and removes it.
///
/// # Errors
/// Why the kernel refuses it: it may have no bridges, or no virtual Ethernet devices.
pub fn shim() -> Result<(), HostError> {
    let mut netlink = Netlink::open().map_err(|reason| HostError::system("reach netlink", reason))?;
    let shim = Shim::create(&mut netlink, "probe", "nothing")?;
    shim.remove(&mut netlink).map_err(|reason| HostError::system("remove the shim", reason))
}

/// Whether `pattern` of `host.devices` matches the device called `name`.
#[must_use]
pub fn is_meant(pattern: &str, name: &str) -> bool {
    pattern::matches(pattern, name)
}

/// The programs and filters on the device called `name`.
///
/// # Errors
/// There is no such device, or an error of the kernel.
pub fn programs_on(name: &str) -> Result<Vec<Beside>, HostError> {
    let fault = |reason| HostError::system(format!("find the device {name}"), reason);
    let mut netlink = Netlink::open().map_err(fault)?;
    let all = device::all(&mut netlink).map_err(fault)?;
    let found = all.iter().find(|device| device.name == name);
    let found = found.ok_or_else(|| fault(io::ErrorKind::NotFound.into()))?;
    beside::programs(&mut netlink, found)
}

/// The number of keys that agents share, after reading all of them.
///
/// # Errors
/// A key that cannot be read.
pub fn keys(settings: &HostSettings) -> Result<usize, HostError> {
    settings.host.shared_keys().map(|_| settings.host.key_files().count())
}

/// Whether sinks can be pinned, or an agent that runs has pinned them.
///
/// # Errors
/// Why not.
pub fn pins(settings: &HostSettings) -> io::Result<()> {
    match Pins::open(&settings.host.pins) {
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => Ok(()),
        opened => opened.map(drop),
    }
}

/// The number of drop reasons in the kernel.
///
/// # Errors
/// A kernel that does not describe its types, or gives no reasons.
pub fn drop_reasons() -> Result<usize, HostError> {
    drops::count_reasons()
}
