//! The keeper of sinks after the agent's end: pins in a BPF file system, or a guard where there is none.

use std::io::ErrorKind;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Command;

use inband_linux::clock;

use crate::error::HostError;
use crate::guard::Guard;
use crate::pins::Pins;
use crate::programs::{Program, Programs};
use crate::rules::MappedPrefix;
use crate::settings::HostSection;
use crate::shim::Shim;

/// The keeper of the sinks.
#[derive(Debug, Default)]
pub(super) struct Keeper {
    pins: Option<Pins>,
    /// `None`: pins are used, or the agent is about to end.
    guard: Option<Guard>,
    /// Whether sinks stay when the agent ends normally.
    leaves_sinks: bool,
    /// Until when pinned sinks stay in any case, because leases of an earlier agent may last, nanoseconds of
    /// the monotonic clock.
    held_until: u64,
    is_ending: bool,
}

impl Keeper {
    /// Opens the pins, or starts the guard and says why in a note.
    ///
    /// # Errors
    /// Another agent has the pins, or an error of the system.
    pub(super) fn open(host: &HostSection, guard: Command) -> Result<(Self, Option<String>), HostError> {
        let reason = match Pins::open(&host.pins) {
            Ok(pins) => {
                return Ok((Self { pins: Some(pins), ..Self::default() }, None));
            }
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                return Err(HostError::pins_taken(&host.pins));
            }
            Err(reason) => reason,
        };
        let keeper = Self { guard: Some(Guard::start(guard)?), ..Self::default() };
        let note = format!(
            "note: no pins in {}: {reason}; if agent and guard are killed, INT is not removed any more",
            host.pins.display()
        );
        Ok((keeper, Some(note)))
    }

    /// Keeps sinks when the agent ends normally, if they are pinned.
    pub(super) const fn leave_sinks(&mut self, leaves_sinks: bool) {
        self.leaves_sinks = leaves_sinks;
    }

    /// Whether the sinks stay pinned after a normal end of the agent.
    pub(super) const fn keeps_sinks(&self) -> bool {
        self.leaves_sinks && self.pins.is_some()
    }

    /// How long the sink of a device released at `now` has to stay: others may send INT for `linger_ns`, or
    /// without end.
    pub(super) const fn keeps_until(&self, now: u64, linger_ns: u64) -> u64 {
        if self.leaves_sinks { u64::MAX } else { now.saturating_add(linger_ns) }
    }

    /// Sets how long INT has to be removed after the agent's death where there are no pins.
    pub(super) fn linger(&mut self, linger_ms: u32) -> Result<(), HostError> {
        self.guard.as_mut().map_or(Ok(()), |guard| guard.linger(u64::from(linger_ms) * 1_000_000))
    }

    /// The addresses whose INT is removed by sinks that an earlier agent left, each with the longest lease,
    /// milliseconds.
    pub(super) fn granted(&self) -> Vec<(IpAddr, u32)> {
        self.pins.as_ref().map(Pins::granted).unwrap_or_default()
    }

    /// The prefixes whose INT sinks of an earlier agent remove without a lease.
    pub(super) fn ended_always(&self) -> Vec<MappedPrefix> {
        self.pins.as_ref().map(Pins::ended_always).unwrap_or_default()
    }

    /// Keeps the tables of leases and peers for the next agent, and pinned sinks until the leases of an
    /// earlier one have ended.
    pub(super) fn keep_tables(&mut self, programs: &mut Programs, until: u64) -> Result<(), HostError> {
        self.held_until = until;
        match &self.pins {
            Some(pins) => pins.keep_tables(programs),
            None => Ok(()),
        }
    }

    /// Until when leases of an earlier agent may last whose sinks this one would detach, nanoseconds of the
    /// monotonic clock.
    pub(super) const fn held_until(&self) -> u64 {
        if self.leaves_sinks { 0 } else { self.held_until }
    }

    /// Attaches the sink to `device`, or takes over one that an earlier agent left there.
    pub(super) fn attach_sink(&self, programs: &mut Programs, device: u32) -> Result<OwnedFd, HostError> {
        let Some(pins) = &self.pins else {
            let link = programs.attach(Program::Sink, device)?;
            self.hold(device, link.as_fd())?;
            return Ok(link);
        };
        if let Some(link) = pins.take_over(device, programs.descriptor(Program::Sink)?)? {
            return Ok(link);
        }
        let link = programs.attach(Program::Sink, device)?;
        pins.keep_sink(device, link.as_fd())?;
        Ok(link)
    }

    /// Passes the guard a link in front of other sinks, to hold until packets have left the shim.
    pub(super) fn hold(&self, device: u32, link: BorrowedFd<'_>) -> Result<(), HostError> {
        self.guard.as_ref().map_or(Ok(()), |guard| guard.hold(device, link))
    }

    /// Passes the guard the shim of `device` to remove; without a guard the next agent removes it.
    pub(super) fn remove_shim(&self, device: u32, shim: Shim) -> Result<(), HostError> {
        self.guard.as_ref().map_or(Ok(()), |guard| guard.remove_shim(device, shim))
    }

    /// Makes the guard forget `device`, whose programs the agent detaches itself.
    pub(super) fn forget(&self, device: u32) {
        if let Some(guard) = &self.guard {
            guard.forget(device);
        }
    }

    /// Starts another guard if the one before is gone; returns whether there is a new one, still without
    /// links.
    pub(super) fn renew_guard(&mut self) -> Result<bool, HostError> {
        self.guard.as_mut().map_or(Ok(false), Guard::renew)
    }

    /// Detaches the sink of `device`, unless it is to stay when the agent ends; returns whether it is gone.
    pub(super) fn release_sink(&self, device: u32) -> Result<bool, HostError> {
        match &self.pins {
            Some(_) if self.keeps_sinks() && self.is_ending => Ok(false),
            Some(_) if clock::monotonic() < self.held_until => Ok(false),
            Some(pins) => pins.release(device).map(|()| true),
            None => Ok(true),
        }
    }

    /// Detaches sinks that an earlier agent left on devices other than `kept`.
    pub(super) fn release_others(&self, kept: &[u32]) -> Result<(), HostError> {
        self.pins.as_ref().map_or(Ok(()), |pins| pins.release_others(kept))
    }

    /// Ends the guard; only pins keep the sinks after that.
    pub(super) fn dismiss(&mut self) -> Result<(), HostError> {
        self.is_ending = true;
        self.guard.take().map_or(Ok(()), Guard::dismiss)
    }
}
