//! Queueing disciplines of devices: a rate limit with a bounded queue.

use std::io;

use inband_linux::netlink::{Message, Netlink};

use crate::quantity::Rate;

/// Limits a device's sending to `rate`, with at most `limit_bytes` queued.
pub(super) fn limit(netlink: &mut Netlink, device: u32, rate: Rate, limit_bytes: u32) -> io::Result<()> {
    remove(netlink, device)?;
    // The bytes of a millisecond, so that the kernel's timers suffice, but at least a few packets.
    let burst = u32::try_from(rate.bytes() / 1000).unwrap_or(u32::MAX).clamp(MIN_BURST, MAX_BURST);
    netlink.change(add(NEW, Place::root(device), "tbf").nested(OPTIONS, |options| {
        options
            .attribute(PARAMETERS, &parameters(rate, limit_bytes))
            .attribute(RATE_64, &rate.bytes().to_ne_bytes())
            .attribute(BURST, &burst.to_ne_bytes())
    }))
}

/// Restores the default queue of a device; that it has it already is no error.
pub(super) fn remove(netlink: &mut Netlink, device: u32) -> io::Result<()> {
    // ENOENT and EINVAL mean that there is none to remove.
    match netlink.change(Message::new(DELETE, 0, &Place::root(device).fixed())) {
        Err(error) if matches!(error.raw_os_error(), Some(2 | 22)) => Ok(()),
        done => done,
    }
}

/// The place of a queueing discipline, a class or a filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Interface index of the device.
    pub(super) device: u32,
    /// Its own handle; 0: the kernel chooses one.
    pub(super) handle: u32,
    /// The handle of the discipline or class that it belongs to.
    pub(super) parent: u32,
    /// Of filters: priority and protocol.
    pub(super) info: u32,
}

impl Place {
    /// The root of a device.
    pub(super) fn root(device: u32) -> Self {
        Self { device, handle: 0, parent: ROOT, info: 0 }
    }

    /// `struct tcmsg`.
    fn fixed(self) -> Vec<u8> {
        [0, self.device, self.handle, self.parent, self.info].into_iter().flat_map(u32::to_ne_bytes).collect()
    }
}

/// Begins a message that adds a discipline, a class or a filter of `kind`.
pub(super) fn add(message: u16, place: Place, kind: &str) -> Message {
    let name = [kind.as_bytes(), &[0]].concat();
    Message::new(message, CREATE | EXCLUSIVE, &place.fixed()).attribute(KIND, &name)
}

/// `struct tc_tbf_qopt`: two of `struct tc_ratespec`, limit, buffer and MTU; `BURST` overrides the buffer.
fn parameters(rate: Rate, limit_bytes: u32) -> Vec<u8> {
    let mut bytes = vec![0; 36];
    let low = u32::try_from(rate.bytes()).unwrap_or(u32::MAX);
    // Link layer Ethernet: no table of times is needed.
    if let Some(layer) = bytes.get_mut(1) {
        *layer = 1;
    }
    for (at, word) in [(8, low), (24, limit_bytes)] {
        if let Some(room) = bytes.get_mut(at..at + 4) {
            room.copy_from_slice(&word.to_ne_bytes());
        }
    }
    bytes
}

/// `RTM_NEWQDISC`.
pub(super) const NEW: u16 = 36;
/// `RTM_DELQDISC`.
const DELETE: u16 = 37;
/// `TC_H_ROOT`.
const ROOT: u32 = 0xffff_ffff;
const CREATE: u16 = 0x400;
const EXCLUSIVE: u16 = 0x200;
/// `TCA_KIND`.
const KIND: u16 = 1;
/// `TCA_OPTIONS`.
pub(super) const OPTIONS: u16 = 2;
/// `TCA_TBF_PARMS`.
const PARAMETERS: u16 = 1;
/// `TCA_TBF_RATE64`.
const RATE_64: u16 = 4;
/// `TCA_TBF_BURST`.
const BURST: u16 = 6;
/// Bytes: a few packets of the fabric.
const MIN_BURST: u32 = 6_000;
const MAX_BURST: u32 = 1 << 20;
