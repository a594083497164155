//! Packets wait for a neighbour's Ethernet address, and the switch waits for packets.

use std::collections::VecDeque;

use inband_linux::clock;
use inband_wire::{Layers, Link, Strictness};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::{LONGEST_WAIT, Switch};
use crate::counts::Cause;
use crate::error::SwitchError;
use crate::forward::{Message, Neighbour};
use crate::packet::Packet;
use crate::waiting::{Line, MAX_IN_LINE, MAX_LINES, PATIENCE_NS};

impl Switch {
    /// Has a packet wait until `neighbour` is known.
    pub(super) fn wait_for(&mut self, neighbour: Neighbour, packet: Packet) {
        let lines = self.waiting.0.len();
        let line = match self.waiting.0.entry(neighbour) {
            std::collections::hash_map::Entry::Occupied(known) => Some(known.into_mut()),
            std::collections::hash_map::Entry::Vacant(_) if lines >= MAX_LINES => None,
            std::collections::hash_map::Entry::Vacant(new) => {
                self.follower.look_for(vec![neighbour]);
                Some(new.insert(Line { packets: VecDeque::new(), since: clock::realtime() }))
            }
        };
        match line {
            Some(line) if line.packets.len() < MAX_IN_LINE => line.packets.push_back(packet),
            _ => {
                let layers = layers(&packet);
                self.drop(packet, layers, None, Cause::NeighbourUnresolved);
            }
        }
    }

    /// Takes over what the kernel's tables say, and lets packets go on whose neighbour is known now.
    pub(super) fn adopt_tables(&mut self) {
        let version = self.follower.version();
        if version == self.tables {
            return;
        }
        self.tables = version;
        let tables = self.follower.tables();
        self.forwarding.adopt(&tables);
        let known = self.waiting.0.keys().filter(|neighbour| tables.neighbour(**neighbour).is_some());
        let known: Vec<Neighbour> = known.copied().collect();
        for neighbour in known {
            let line = self.waiting.0.remove(&neighbour);
            for packet in line.into_iter().flat_map(|line| line.packets) {
                self.dispatch(packet);
            }
        }
    }

    /// Drops packets that have waited too long, and tells their senders.
    pub(super) fn give_up_waiting(&mut self, now: u64) {
        let is_over = |line: &Line| now.saturating_sub(line.since) >= PATIENCE_NS;
        let over = self.waiting.0.iter().filter(|(_, line)| is_over(line)).map(|(neighbour, _)| *neighbour);
        let over: Vec<Neighbour> = over.collect();
        for neighbour in over {
            let line = self.waiting.0.remove(&neighbour);
            for packet in line.into_iter().flat_map(|line| line.packets) {
                let layers = layers(&packet);
                self.answer(&packet, layers, Some(Message::HostUnreachable));
                self.drop(packet, layers, None, Cause::NeighbourUnresolved);
            }
        }
    }

    /// Waits until there is something to do.
    pub(super) fn wait(&self) -> Result<(), SwitchError> {
        let now = clock::realtime();
        let longest = now + u64::try_from(LONGEST_WAIT.as_nanos()).unwrap_or(u64::MAX);
        let mut until = self.ports.iter().filter_map(crate::port::Port::next_at).fold(longest, u64::min);
        until = self.node.next_probe_at().map_or(until, |at| until.min(at));
        if !self.waiting.0.is_empty() || self.groups_reports {
            until = until.min(self.tick_at);
        }
        let left = i64::try_from(until.saturating_sub(now)).unwrap_or(0);
        let timeout = Timespec { tv_sec: left / 1_000_000_000, tv_nsec: left % 1_000_000_000 };
        let flags = |is_blocked| if is_blocked { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let mut ports: Vec<PollFd<'_>> =
            self.ports.iter().map(|port| PollFd::new(&port.socket, flags(port.is_blocked))).collect();
        match poll(&mut ports, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(SwitchError::system("wait for frames")(error.into())),
        }
    }
}

fn layers(packet: &Packet) -> Option<Layers> {
    Layers::parse(Link::Ethernet, packet.bytes(), Strictness::Truncated).ok().flatten()
}
