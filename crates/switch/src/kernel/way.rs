//! The channel between the programs and the engine: a device of this program, and a packet socket.

use std::io;
use std::ops::Range;

use inband_linux::netlink::Netlink;
use inband_linux::packet::PacketSocket;
use inband_linux::statistics::Statistics;
use inband_linux::tun::Tun;
use inband_linux::{clock, device};
use inband_node::frame::MAX_GROWTH;

use super::abi::{Engine, Handed};
use crate::error::SwitchError;

/// The device, the socket, and their counters.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) tun: Tun,
    pub(super) engine: Engine,
    pub(super) socket: PacketSocket,
    pub(super) netlink: Netlink,
    pub(super) buffer: Vec<u8>,
    /// Received frames, and foreign frames.
    pub(super) taken: u64,
    pub(super) foreign: u64,
    /// Frames that did not fit into the socket's buffer.
    pub(super) losses: u64,
}

/// Maximum number of frames waiting for the engine.
pub(super) const QUEUE_FRAMES: u32 = 16_384;
/// The largest packet in the kernel, with its header.
const FRAME_BYTES: usize = 65_536 + 128;
/// The two addresses of a frame, and a VLAN tag.
const ADDRESS_BYTES: usize = 12;
const TAG_BYTES: usize = 4;

impl Way {
    /// Creates the device, and the socket to receive from.
    pub(super) fn open(mut netlink: Netlink) -> Result<Self, SwitchError> {
        let fault = || SwitchError::system("create a device that leads to the engine");
        let tun = Tun::create("inbsw%d").map_err(fault())?;
        let found = device::find(&mut netlink, tun.name()).map_err(fault())?;
        let index = found.ok_or_else(|| fault()(io::ErrorKind::NotFound.into()))?.index;
        device::set_queue_length(&mut netlink, index, QUEUE_FRAMES).map_err(fault())?;
        device::set_up(&mut netlink, index, true).map_err(fault())?;
        let socket = PacketSocket::open().map_err(fault())?;
        let mark = mark(index);
        socket.set_mark(mark).map_err(fault())?;
        let buffer = vec![0; MAX_GROWTH + FRAME_BYTES];
        let engine = Engine { device: index, mark };
        Ok(Self { tun, engine, socket, netlink, buffer, taken: 0, foreign: 0, losses: 0 })
    }

    /// The next frame: its header, and its range in `buffer`.
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(Handed, Range<usize>)>> {
        // The space before the frame is later used for INT.
        let room = buffer.get_mut(MAX_GROWTH..).unwrap_or_default();
        let Some(length) = self.tun.receive(room)? else { return Ok(None) };
        let Some((handed, tag, frame)) = room.get(..length).and_then(Handed::read) else {
            self.foreign += 1;
            return Err(io::ErrorKind::InvalidData.into());
        };
        self.taken += 1;
        let end = MAX_GROWTH + length;
        let mut start = end - frame.len();
        if let Some(tag) = tag {
            // The device inserted the tag behind the header's addresses; it belongs behind the frame's own.
            buffer.copy_within(start..start + ADDRESS_BYTES, start - TAG_BYTES);
            start -= TAG_BYTES;
            if let Some(place) = buffer.get_mut(start + ADDRESS_BYTES..start + ADDRESS_BYTES + TAG_BYTES) {
                place.copy_from_slice(&tag);
            }
        }
        Ok(Some((handed, start..end)))
    }

    /// Updates the counters of lost frames; what cannot be read is read the next time.
    pub(super) fn read_losses(&mut self) {
        if let Ok(Some(statistics)) = Statistics::read(&mut self.netlink, self.engine.device) {
            self.losses = statistics.send_drops;
        }
    }
}

/// A unique mark: never 0, and different for each process and device.
fn mark(device: u32) -> u32 {
    let mixed = u64::from(std::process::id()) << 32 | u64::from(device);
    let mixed = (mixed ^ clock::realtime()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    u32::try_from(mixed >> 32).unwrap_or(1).max(1)
}
