//! One interface: a socket, egress queues, and the rate at which it sends.

use std::collections::VecDeque;
use std::io;

use inband_linux::device::Device;
use inband_linux::ethtool;
use inband_linux::frames::FrameSocket;
use inband_node::config::InterfaceConfig;

use crate::counts::{Cause, Counts};
use crate::error::SwitchError;
use crate::packet::{Packet, Pool};
use crate::rings::{Obstacle, Rings};
use crate::status::NO_DEVICE;

/// One interface.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) id: u16,
    pub(crate) device: Device,
    /// The largest IP packet it sends, bytes: the configured MTU, or that of the device if it is smaller.
    pub(crate) mtu: usize,
    configured_mtu: u32,
    /// Whether INT is removed from packets that leave by it.
    pub(crate) is_edge: bool,
    /// Receives the frames that the kernel receives as well.
    pub(crate) socket: FrameSocket,
    /// Receives frames past the kernel's stack, and sends; or why it cannot.
    pub(crate) rings: Result<Rings, Obstacle>,
    /// Why frames are sent through the stack although there are rings.
    pub(crate) detour: Option<Obstacle>,
    /// Why the device is not in use; `None`: it is.
    pub(crate) absence: Option<String>,
    pub(crate) counts: Counts,
    /// Whether the device had no room for the frames in `ready`.
    pub(crate) is_blocked: bool,
    /// The queues, in ascending order of priority.
    queues: Vec<Queue>,
    queue_bytes: usize,
    /// Bits per second; 0: no limit.
    rate: u64,
    /// Bits per second that utilization is measured against.
    speed: Option<u64>,
    /// When the last frame that left its queue is sent completely, nanoseconds.
    free_at: u64,
    utilization: Utilization,
    /// Frames that have left their queue.
    ready: VecDeque<Packet>,
}

/// One queue of packets.
#[derive(Debug, Default)]
struct Queue {
    packets: VecDeque<Packet>,
    bytes: usize,
}

impl Port {
    pub(crate) fn open(
        config: &InterfaceConfig,
        device: &Device,
        rings: Result<Rings, Obstacle>,
    ) -> Result<Self, SwitchError> {
        let fault = SwitchError::system(format!("receive frames of {}", device.name));
        let socket = FrameSocket::open(device.index).map_err(fault)?;
        let speed = ethtool::megabits_per_second(&device.name).ok().flatten();
        let mut port = Self {
            id: config.id,
            device: device.clone(),
            mtu: 0,
            configured_mtu: 0,
            is_edge: config.edge,
            socket,
            rings,
            detour: None,
            absence: None,
            counts: Counts::default(),
            is_blocked: false,
            queues: (0..config.priorities).map(|_| Queue::default()).collect(),
            queue_bytes: 0,
            rate: 0,
            speed: speed.map(|megabits| u64::from(megabits) * 1_000_000),
            free_at: 0,
            utilization: Utilization::default(),
            ready: VecDeque::new(),
        };
        port.configure(config);
        Ok(port)
    }

    /// Applies the settings that can change while the switch runs.
    pub(crate) fn configure(&mut self, config: &InterfaceConfig) {
        self.configured_mtu = config.mtu;
        self.adopt_mtu(self.device.mtu);
        self.queue_bytes = usize::try_from(config.queue_bytes).unwrap_or(usize::MAX);
        self.rate = config.rate.0;
    }

    /// Adopts the MTU of the device, bytes; returns whether this changes that of the interface.
    pub(crate) fn adopt_mtu(&mut self, device_mtu: u32) -> bool {
        self.device.mtu = device_mtu;
        let mtu = usize::try_from(self.configured_mtu.min(device_mtu)).unwrap_or(usize::MAX);
        std::mem::replace(&mut self.mtu, mtu) != mtu
    }

    /// The queue of packets with this DSCP: the eight classes are divided among the queues.
    pub(crate) fn queue_of(&self, dscp: u8) -> u8 {
        let count = self.queues.len().max(1);
        u8::try_from(usize::from(dscp >> 3) * count / CLASSES).unwrap_or(0)
    }

    /// The bytes waiting in a queue.
    pub(crate) fn waiting_bytes(&self, queue: u8) -> usize {
        self.queues.get(usize::from(queue)).map_or(0, |queue| queue.bytes)
    }

    /// The bytes waiting in all queues.
    pub(crate) fn all_waiting_bytes(&self) -> usize {
        self.queues.iter().map(|queue| queue.bytes).sum()
    }

    /// The packets waiting in all queues, and for the device to take them.
    pub(crate) fn waiting_packets(&self) -> usize {
        let queued: usize = self.queues.iter().map(|queue| queue.packets.len()).sum();
        queued + self.ready.len() + self.rings.as_ref().map_or(0, Rings::waiting)
    }

    pub(crate) fn has_room(&self, queue: u8, bytes: usize) -> bool {
        self.waiting_bytes(queue) + bytes <= self.queue_bytes
    }

    /// Appends a packet to a queue.
    pub(crate) fn push(&mut self, queue: u8, packet: Packet) {
        if let Some(queue) = self.queues.get_mut(usize::from(queue)) {
            queue.bytes += packet.len();
            queue.packets.push_back(packet);
        }
    }

    /// Takes the packet that is due at `now`, and the number of its queue.
    pub(crate) fn pop(&mut self, now: u64) -> Option<(u8, Packet)> {
        if self.rate > 0 && self.free_at > now {
            return None;
        }
        // With more frames pending, the device would seem to be idle.
        if self.ready.len() >= MAX_READY {
            return None;
        }
        let (number, queue) = self.queues.iter_mut().enumerate().rev().find(|(_, queue)| queue.bytes > 0)?;
        let packet = queue.packets.pop_front()?;
        queue.bytes -= packet.len();
        Some((u8::try_from(number).unwrap_or(0), packet))
    }

    /// Passes a packet that has left its queue to the device, at the rate of the interface.
    pub(crate) fn depart(&mut self, packet: Packet, now: u64) {
        let (length, came_at) = (packet.len(), packet.came_at);
        if self.rate > 0 {
            // The link is idle until the packet arrives; the program's own delay is compensated.
            let start = self.free_at.max(came_at).max(now.saturating_sub(MAX_LATE_NS));
            self.free_at = start + transmission_ns(length, self.rate);
        }
        if let Some(speed) = self.measured_speed() {
            self.utilization.add(now, transmission_ns(length, speed));
        }
        self.counts.departed_packets += 1;
        self.counts.departed_bytes += length as u64;
        self.ready.push_back(packet);
    }

    /// The share of the last milliseconds in which the interface was sending, hundredths of a percent;
    /// `None`: unknown speed.
    pub(crate) fn utilization(&self, now: u64) -> Option<u32> {
        self.measured_speed().map(|_| self.utilization.hundredths_of_percent(now))
    }

    fn measured_speed(&self) -> Option<u64> {
        if self.rate > 0 { Some(self.rate) } else { self.speed }
    }

    /// When the next packet may leave its queue, nanoseconds; `None`: the queues are empty.
    pub(crate) fn next_at(&self) -> Option<u64> {
        let waits = self.queues.iter().any(|queue| queue.bytes > 0);
        (waits && !self.is_blocked).then_some(if self.rate > 0 { self.free_at } else { 0 })
    }

    /// How frames arrive and leave, or why not past the kernel's stack.
    pub(crate) fn frame_io(&self) -> String {
        if let Some(absence) = &self.absence {
            return format!("none: {absence}");
        }
        match (&self.rings, &self.detour) {
            (Ok(rings), None) => rings.words(),
            (Ok(rings), Some(obstacle)) => format!("{} in; af-packet out: {obstacle}", rings.words()),
            (Err(obstacle), _) => format!("af-packet: {obstacle}"),
        }
    }

    /// Whether frames are sent past the kernel's stack.
    pub(crate) fn sends_by_rings(&self) -> bool {
        self.rings.is_ok() && self.detour.is_none()
    }

    /// Whether frames are in the rings that the kernel had no room for.
    pub(crate) fn is_sending(&self) -> bool {
        self.rings.as_ref().is_ok_and(|rings| rings.waiting() > 0)
    }

    /// The number of incoming frames lost since the last call for want of room.
    pub(crate) fn take_losses(&mut self) -> u64 {
        // Counters that cannot be read are read the next time.
        let socket = u64::from(self.socket.take_losses().unwrap_or(0));
        socket + self.rings.as_mut().map_or(0, Rings::take_losses)
    }

    /// Sends the frames in `ready` by the device.
    pub(crate) fn flush(&mut self, pool: &mut Pool) {
        self.is_blocked = false;
        if self.absence.is_some() {
            return self.refuse(Cause::DeviceRefused, pool);
        }
        if self.sends_by_rings() {
            self.flush_rings(pool);
            return;
        }
        if self.is_sending() {
            // Those from before the detour.
            self.send_queued(pool);
        }
        self.flush_socket(pool);
    }

    fn flush_rings(&mut self, pool: &mut Pool) {
        let mut down = self.rings.as_mut().ok().and_then(|rings| rings.check().err());
        // Each round but the last queues a frame.
        while down.is_none() {
            let Ok(rings) = &mut self.rings else { return };
            let before = self.ready.len();
            while let Some(packet) = self.ready.pop_front() {
                if let Err(packet) = rings.send(packet, pool) {
                    self.ready.push_front(packet);
                    break;
                }
            }
            down = self.send_queued(pool);
            if self.ready.is_empty() {
                break;
            }
            // Frames sent meanwhile have made room, or there is none.
            if self.ready.len() == before {
                self.is_blocked = true;
                return;
            }
        }
        if let Some(error) = down {
            self.refuse(Cause::of_refusal(&error), pool);
        }
    }

    /// Drops the frames in `ready`.
    fn refuse(&mut self, cause: Cause, pool: &mut Pool) {
        for packet in self.ready.drain(..) {
            self.counts.drop(cause);
            pool.give_back(packet);
        }
    }

    /// Goes on without the device, which has disappeared.
    pub(crate) fn leave(&mut self, pool: &mut Pool) {
        self.absence = Some(NO_DEVICE.to_owned());
        let withdrawn = self.rings.as_mut().map_or(0, |rings| rings.withdraw(pool));
        self.counts.drop_many(Cause::DeviceRefused, withdrawn);
        self.counts.receive_losses += self.take_losses();
        // Chunks that the kernel had for incoming frames are no other interface's.
        if self.rings.is_ok() {
            self.rings = Err(Obstacle::Back);
        }
        self.detour = None;
    }

    /// Uses a device that has come back, by a packet socket.
    pub(crate) fn come_back(&mut self, device: &Device) -> Result<(), SwitchError> {
        let fault = SwitchError::system(format!("receive frames of {}", device.name));
        self.socket = FrameSocket::open(device.index).map_err(fault)?;
        self.device = device.clone();
        Ok(())
    }

    /// Drops the packets that wait.
    pub(crate) fn end(&mut self, pool: &mut Pool) {
        let queued = self.queues.iter_mut().flat_map(|queue| {
            queue.bytes = 0;
            std::mem::take(&mut queue.packets)
        });
        for packet in self.ready.drain(..).chain(queued) {
            self.counts.drop(Cause::Ended);
            pool.give_back(packet);
        }
        let withdrawn = self.rings.as_mut().map_or(0, |rings| rings.withdraw(pool));
        self.counts.drop_many(Cause::Ended, withdrawn);
    }

    /// Makes the kernel send the frames in the rings; returns its error if the device is down.
    fn send_queued(&mut self, pool: &mut Pool) -> Option<io::Error> {
        let flushed = self.rings.as_mut().ok()?.flush(pool);
        self.counts.sent_packets += flushed.sent;
        self.counts.sent_bytes += flushed.sent_bytes;
        self.counts.drop_many(Cause::DeviceRefused, flushed.refused);
        flushed.error
    }

    fn flush_socket(&mut self, pool: &mut Pool) {
        while !self.ready.is_empty() {
            match self.socket.send(self.ready.iter().map(Packet::bytes)) {
                Ok(0) => {
                    self.is_blocked = true;
                    return;
                }
                Ok(sent) => {
                    for packet in self.ready.drain(..sent.min(self.ready.len())) {
                        self.counts.sent_packets += 1;
                        self.counts.sent_bytes += packet.len() as u64;
                        pool.give_back(packet);
                    }
                }
                // The first one was refused.
                Err(error) => {
                    if let Some(packet) = self.ready.pop_front() {
                        self.counts.drop(Cause::of_refusal(&error));
                        pool.give_back(packet);
                    }
                }
            }
        }
    }
}

/// The transmission time of a frame, with Ethernet's overhead: preamble 8, checksum 4, gap 12 bytes.
fn transmission_ns(bytes: usize, bits_per_second: u64) -> u64 {
    // No frame is longer than 2^24 bytes, so this fits.
    let bits = (bytes as u64).min(1 << 24).saturating_add(24) * 8;
    (bits * 1_000_000_000).div_ceil(bits_per_second.max(1))
}

/// Moving average of the time a port spends sending: `u = d + u (1 - dt / tau)`, where `d` is the time a frame takes.
#[derive(Clone, Copy, Debug, Default)]
struct Utilization {
    busy_ns: u64,
    updated_at: u64,
}

impl Utilization {
    fn add(&mut self, now: u64, transmission_ns: u64) {
        self.busy_ns = (self.decayed_ns(now) + transmission_ns).min(TAU_NS);
        self.updated_at = now;
    }

    fn hundredths_of_percent(&self, now: u64) -> u32 {
        u32::try_from(self.decayed_ns(now) * 10_000 / TAU_NS).unwrap_or(10_000)
    }

    fn decayed_ns(&self, now: u64) -> u64 {
        let idle_ns = now.saturating_sub(self.updated_at).min(TAU_NS);
        self.busy_ns * (TAU_NS - idle_ns) / TAU_NS
    }
}

/// Time constant of the average.
const TAU_NS: u64 = 10_000_000;
/// The maximum delay of the program that is compensated.
const MAX_LATE_NS: u64 = 20_000_000;
/// Classes of DSCP.
const CLASSES: usize = 8;
/// Maximum number of frames that the device has not accepted yet.
const MAX_READY: usize = 256;
