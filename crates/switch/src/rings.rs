//! AF_XDP: the engine's access to frames of an interface past the kernel's stack.
//!
//! A program in the driver passes the packets to be forwarded to the engine, and all others to the kernel:
//! those for the host itself, to groups, ARP, and frames with a VLAN tag. The engine receives these through
//! its packet socket, as without the program.

mod obstacle;
mod program;

use std::os::fd::{AsFd, BorrowedFd};
use std::thread;
use std::time::Instant;

use inband_linux::bpf::{Attached, SocketMap};
use inband_linux::clock::Clock;
use inband_linux::device::Device;
use inband_linux::ethtool;
use inband_linux::xdp::{self, XdpMode};
use inband_linux::xsk::{Arrived, Flushed, FrameMemory, Moving, Ready, RingSocket};
use inband_node::NodeConfig;
use inband_node::config::FrameIo;

use crate::claim::{PATIENCE, RETRY};
use crate::error::SwitchError;
use crate::guard::OwnAddresses;
use crate::packet::{Buffer, Packet, Pool};

pub(crate) use self::obstacle::{Obstacle, Sending};
use self::program::{MAGIC, MARK_BYTES, Program};

/// The sockets of an interface's receive queues, and the program that fills them.
#[derive(Debug)]
pub(crate) struct Rings {
    /// The program; detached first when this value is dropped.
    _link: Attached,
    sockets: Vec<RingSocket>,
    /// Whether checksums may have been left to a device that does not exist.
    is_virtual: bool,
    is_zero_copy: bool,
}

/// The clock of the program, and its offset from that of timestamps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramClock(u64);

/// The result of opening the sockets of all interfaces.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The memory of their frames; `None`: no interface has rings.
    pub(crate) memory: Option<FrameMemory>,
    /// For each interface: its sockets, or why it has none.
    pub(crate) rings: Vec<Result<Rings, Obstacle>>,
}

impl Opened {
    /// Opens the sockets of the interfaces where the configuration allows them and no obstacle exists.
    ///
    /// # Errors
    /// If the configuration demands AF_XDP: the obstacle.
    pub(crate) fn open(
        config: &NodeConfig,
        devices: &[Device],
        own: &OwnAddresses,
    ) -> Result<Self, SwitchError> {
        let mode = config.switch.io;
        let mut opened = Self { memory: None, rings: Vec::new() };
        if mode == FrameIo::AfPacket {
            opened.rings.extend(devices.iter().map(|_| Err(Obstacle::Off)));
            return Ok(opened);
        }
        let mut plans: Vec<_> = devices.iter().map(plan).collect();
        let program = Program::prepare(own);
        if let Err(error) = &program {
            plans.iter_mut().for_each(|plan| *plan = Err(Obstacle::Refused(error.to_string())));
        }
        let all = (&plans[..], devices, program.ok());
        // One memory for all: if one driver cannot use it, the kernel copies frames for all.
        opened = open_all(all, Moving::IfNeeded);
        if opened.rings.iter().any(|rings| matches!(rings, Err(Obstacle::Refused(_)))) {
            drop(opened);
            opened = open_all(all, Moving::Always);
        }
        let refused = opened.rings.iter().zip(devices).find_map(|(rings, device)| {
            rings.as_ref().err().map(|obstacle| format!("`{}`: {obstacle}", device.name))
        });
        match refused {
            Some(what) if mode == FrameIo::AfXdp => {
                Err(SwitchError::config("switch.io", format!("is not possible: {what}")))
            }
            _ => Ok(opened),
        }
    }
}

/// The number of the device's receive queues that get a socket.
fn plan(device: &Device) -> Result<u32, Obstacle> {
    obstacle::check(device)?;
    Ok(ethtool::receive_queues(&device.name)?.unwrap_or(1))
}

type All<'a> = (&'a [Result<u32, Obstacle>], &'a [Device], Option<Program>);

fn open_all((plans, devices, program): All<'_>, moving: Moving) -> Opened {
    let sockets: u32 = plans.iter().flatten().sum();
    let refuse = |error: &std::io::Error| {
        let refused = |plan: &Result<u32, Obstacle>| match plan {
            Ok(_) => Err(Obstacle::Refused(error.to_string())),
            Err(obstacle) => Err(obstacle.clone()),
        };
        Opened { memory: None, rings: plans.iter().map(refused).collect() }
    };
    let ready = Ready::of(sockets);
    let (Some(program), true) = (program, sockets > 0) else {
        return refuse(&std::io::ErrorKind::Unsupported.into());
    };
    let mut memory = match FrameMemory::new(ready.chunks(sockets) + SPARE_CHUNKS) {
        Ok(memory) => memory,
        Err(error) => return refuse(&error),
    };
    let open = |(plan, device): (&Result<u32, Obstacle>, &Device)| {
        let queues = plan.as_ref().map_err(Clone::clone)?;
        Rings::open(&mut memory, device, *queues, (ready, moving), program)
    };
    let rings: Vec<_> = plans.iter().zip(devices).map(open).collect();
    let is_used = rings.iter().any(Result::is_ok);
    Opened { memory: is_used.then_some(memory), rings }
}

impl Rings {
    fn open(
        memory: &mut FrameMemory,
        device: &Device,
        queues: u32,
        (ready, moving): (Ready, Moving),
        program: Program,
    ) -> Result<Self, Obstacle> {
        let map = SocketMap::new(queues)?;
        let program = program.load(device.index, map.number()?)?;
        let mut sockets = Vec::new();
        for queue in 0..queues {
            let mut socket = open_socket(|| RingSocket::open(memory, device.index, queue, ready, moving))?;
            map.set(queue, socket.as_fd())?;
            socket.fill(memory);
            sockets.push(socket);
        }
        if let Some(first) = sockets.first_mut() {
            first.open_sender()?;
        }
        let is_zero_copy = sockets.iter().all(|socket| socket.is_zero_copy().unwrap_or(false));
        // The sockets exist before the first packet is passed to them.
        let link = xdp::attach(program.as_fd(), device.index, XdpMode::Native)
            .map_err(|error| Obstacle::of(error, Obstacle::Taken))?;
        Ok(Self { _link: link.into(), sockets, is_virtual: !device.kind.is_empty(), is_zero_copy })
    }

    /// Their text in `/status`.
    pub(crate) fn words(&self) -> String {
        let count = match self.sockets.len() {
            1 => String::new(),
            count => format!(", {count} queues"),
        };
        format!("af-xdp{}{count}", if self.is_zero_copy { ", zero copy" } else { "" })
    }

    /// Whether checksums of incoming packets may have been left to a device that does not exist.
    pub(crate) fn is_virtual(&self) -> bool {
        self.is_virtual
    }

    /// Takes incoming packets, at most 64 from each queue.
    pub(crate) fn receive(&mut self, pool: &mut Pool, arrived: &mut Vec<Packet>) {
        let Some(mut memory) = pool.memory.take() else { return };
        for socket in &mut self.sockets {
            socket.receive(&mut memory, |memory, frame| arrived.push(packet(pool, memory, frame)));
        }
        pool.memory = Some(memory);
    }

    /// Queues a packet until the next [`flush`](Self::flush); returns it where there is no room.
    pub(crate) fn send(&mut self, packet: Packet, pool: &mut Pool) -> Result<(), Packet> {
        let (Some(memory), Some(socket)) = (&mut pool.memory, self.sockets.first_mut()) else {
            return Err(packet);
        };
        let packet = match packet.buffer {
            Buffer::Own(_) => packet,
            Buffer::Chunk(chunk) => {
                return socket
                    .send(memory, chunk, packet.range.clone())
                    .map_err(|chunk| Packet { buffer: Buffer::Chunk(chunk), ..packet });
            }
        };
        let length = packet.len();
        let Some(mut chunk) = memory.take_empty() else { return Err(packet) };
        let Some(place) = chunk.get_mut(..length) else {
            memory.give_back(chunk);
            return Err(packet);
        };
        place.copy_from_slice(packet.bytes());
        match socket.send(memory, chunk, 0..length) {
            Ok(()) => {
                pool.give_back(packet);
                Ok(())
            }
            Err(chunk) => {
                memory.give_back(chunk);
                Err(packet)
            }
        }
    }

    /// Checks that the device takes packets, if it was down at the last [`flush`](Self::flush).
    ///
    /// # Errors
    /// It is still down, or gone.
    pub(crate) fn check(&mut self) -> std::io::Result<()> {
        self.sockets.first_mut().map_or(Ok(()), RingSocket::check)
    }

    /// Makes the kernel send the queued packets. If the device is down, none stays queued.
    pub(crate) fn flush(&mut self, pool: &mut Pool) -> Flushed {
        match (&mut pool.memory, self.sockets.first_mut()) {
            (Some(memory), Some(socket)) => socket.flush(memory),
            _ => Flushed::default(),
        }
    }

    /// Takes back the queued packets that the kernel has not taken; returns their number.
    pub(crate) fn withdraw(&mut self, pool: &mut Pool) -> u64 {
        match (&mut pool.memory, self.sockets.first_mut()) {
            (Some(memory), Some(socket)) => socket.withdraw(memory),
            _ => 0,
        }
    }

    /// The number of queued packets that the kernel has not taken.
    pub(crate) fn waiting(&self) -> usize {
        self.sockets.first().map_or(0, |socket| socket.waiting() as usize)
    }

    /// The number of packets lost since the last call for want of room.
    pub(crate) fn take_losses(&mut self) -> u64 {
        // Counters that cannot be read are read the next time.
        self.sockets.iter_mut().map(|socket| socket.take_losses().unwrap_or(0)).sum()
    }

    /// The sockets that receive, for polling.
    pub(crate) fn sockets(&self) -> &[RingSocket] {
        &self.sockets
    }

    /// The socket that sends, for polling; `None`: it is closed.
    pub(crate) fn sending(&self) -> Option<BorrowedFd<'_>> {
        self.sockets.first().and_then(RingSocket::sending)
    }
}

/// Opens a socket on a queue; waits for the kernel to close that of a process which has just ended.
fn open_socket(mut open: impl FnMut() -> std::io::Result<RingSocket>) -> Result<RingSocket, Obstacle> {
    let end = Instant::now() + PATIENCE;
    loop {
        match open().map_err(|error| Obstacle::of(error, Obstacle::Sockets)) {
            Err(Obstacle::Sockets) if Instant::now() < end => thread::sleep(RETRY),
            opened => return opened,
        }
    }
}

/// The packet of a frame. Where chunks are scarce it is copied, so that the driver does not run out of them.
fn packet(pool: &mut Pool, memory: &mut FrameMemory, frame: Arrived) -> Packet {
    let Arrived { chunk, range } = frame;
    let is_short = memory.empty() < SPARE_CHUNKS as usize / 2;
    if is_short {
        // Including the program's mark before it.
        let noted = range.start.saturating_sub(MARK_BYTES)..range.end;
        let mut copy = pool.packet(&[chunk.get(noted).unwrap_or_default()]);
        copy.range.start += MARK_BYTES.min(range.start);
        memory.give_back(chunk);
        return copy;
    }
    Packet::new(Buffer::Chunk(chunk), range)
}

impl ProgramClock {
    pub(crate) fn read() -> Self {
        Self(Clock::Realtime.offset().ns)
    }

    /// The time that the program wrote before a frame; the mark is erased, because the memory is reused. 0:
    /// no mark.
    pub(crate) fn take_time(self, packet: &mut Packet) -> u64 {
        let start = packet.range.start;
        let mark = start.checked_sub(MARK_BYTES).and_then(|at| packet.buffer.get_mut(at..start));
        let Some(mark) = mark else { return 0 };
        let Some((time, rest)) = mark.split_first_chunk_mut::<8>() else { return 0 };
        if *rest != MAGIC.to_ne_bytes() {
            return 0;
        }
        rest.fill(0);
        u64::from_ne_bytes(*time).wrapping_add(self.0)
    }
}

/// Chunks besides those of the rings: for packets waiting in queues.
const SPARE_CHUNKS: u32 = 2_048;
