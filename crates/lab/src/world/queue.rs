//! Queueing disciplines of devices: a rate limit with a bounded queue, or one that drops everything.

use std::io;

use inband_linux::netlink::{Message, Netlink};

use crate::quantity::Rate;

/// Limits a device's sending to `rate`, with at most `limit_bytes` queued.
pub(super) fn limit(netlink: &mut Netlink, device: u32, rate: Rate, limit_bytes: u32) -> io::Result<()> {
    remove(netlink, device)?;
    // The bytes of a millisecond, so that the kernel's timers suffice, but at least a few packets.
    let burst = u32::try_from(rate.bytes() / 1000).unwrap_or(u32::MAX).clamp(MIN_BURST, MAX_BURST);
    netlink.change(Message::new(NEW, CREATE | EXCLUSIVE, &fixed(device)).attribute(KIND, b"tbf\0").nested(
        OPTIONS,
        |options| {
            options
                .attribute(PARAMETERS, &parameters(rate, limit_bytes))
                .attribute(RATE_64, &rate.bytes().to_ne_bytes())
                .attribute(BURST, &burst.to_ne_bytes())
        },
    ))
}

/// Makes a device drop everything it should send, without notice to senders.
pub(super) fn drop_all(netlink: &mut Netlink, device: u32) -> io::Result<()> {
    remove(netlink, device)?;
    netlink.change(Message::new(NEW, CREATE | EXCLUSIVE, &fixed(device)).attribute(KIND, b"blackhole\0"))
}

/// Restores the default queue of a device; that it has it already is no error.
pub(super) fn remove(netlink: &mut Netlink, device: u32) -> io::Result<()> {
    // ENOENT and EINVAL mean that there is none to remove.
    match netlink.change(Message::new(DELETE, 0, &fixed(device))) {
        Err(error) if matches!(error.raw_os_error(), Some(2 | 22)) => Ok(()),
        done => done,
    }
}

/// `struct tcmsg` for the root of a device.
fn fixed(device: u32) -> [u8; 20] {
    let mut fixed = [0; 20];
    for (at, word) in [(4, device), (12, ROOT)] {
        if let Some(room) = fixed.get_mut(at..at + 4) {
            room.copy_from_slice(&word.to_ne_bytes());
        }
    }
    fixed
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
const NEW: u16 = 36;
/// `RTM_DELQDISC`.
const DELETE: u16 = 37;
/// `TC_H_ROOT`.
const ROOT: u32 = 0xffff_ffff;
const CREATE: u16 = 0x400;
const EXCLUSIVE: u16 = 0x200;
/// `TCA_KIND`.
const KIND: u16 = 1;
/// `TCA_OPTIONS`.
const OPTIONS: u16 = 2;
/// `TCA_TBF_PARMS`.
const PARAMETERS: u16 = 1;
/// `TCA_TBF_RATE64`.
const RATE_64: u16 = 4;
/// `TCA_TBF_BURST`.
const BURST: u16 = 6;
/// Bytes: a few packets of the fabric.
const MIN_BURST: u32 = 6_000;
const MAX_BURST: u32 = 1 << 20;
