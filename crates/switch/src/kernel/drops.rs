//! Drops by Linux of packets between the interfaces, with the kernel's reason.

use std::collections::BTreeMap;
use std::{fmt, io};

use aya::maps::{Array, HashMap, MapData, RingBuf};
use aya::programs::RawTracePoint;
use aya::programs::raw_trace_point::RawTracePointLinkId;
use aya::{Ebpf, EbpfLoader, include_bytes_aligned};
use inband_host::drops::{Cause, Meaning, Namespace};
use inband_linux::verification::uninterrupted;
use inband_node::config::DropReasonsConfig;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The program that watches drops; it is detached when this value is dropped.
pub(super) struct Drops {
    ebpf: Ebpf,
    samples: RingBuf<MapData>,
    meaning: Meaning,
    settings: Settings,
    link: Option<RawTracePointLinkId>,
}

/// A packet that Linux dropped.
#[derive(Debug)]
pub(super) struct Dropped {
    /// Time of the drop, nanoseconds since 1970.
    pub(super) time: u64,
    /// The code of its reason in reports.
    pub(super) code: u8,
    /// Index of the device it came in by; 0: sent by the host.
    pub(super) ingress: u32,
    /// Index of the device where it was dropped.
    pub(super) device: u32,
    /// The packet from its IP header on, possibly truncated.
    pub(super) packet: Vec<u8>,
}

impl fmt::Debug for Drops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drops").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// `struct drop_settings`.
#[derive(Clone, Copy, Debug, Default, IntoBytes, Immutable)]
#[repr(C)]
struct Settings {
    clock_offset: u64,
    namespace: u32,
    is_over: u32,
}

/// `struct drop_sample`.
#[derive(Clone, Copy, Debug, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
struct Sample {
    time: u64,
    reason: u32,
    ingress: u32,
    device: u32,
    route_error: u32,
    captured: u32,
    padding: u32,
    bytes: [u8; SAMPLE_BYTES],
}

static OBJECT: &[u8] = include_bytes_aligned!("../bpf/drops.bpf.o");
const SAMPLE_BYTES: usize = 240;
const _: () = assert!(size_of::<Settings>() == 16 && size_of::<Sample>() == 32 + SAMPLE_BYTES);
/// Number of reasons in the program's table.
const MAX_REASONS: u32 = 512;
/// `struct drop_key`: device and reason.
type Key = [u32; 2];

impl Drops {
    /// Starts watching drops of packets that came in, or were sent by the host, at these devices.
    ///
    /// # Errors
    /// An error of the kernel, for example that it gives no reasons (before 5.17).
    pub(super) fn start(
        config: &DropReasonsConfig,
        devices: impl Iterator<Item = u32>,
        clock_offset: u64,
    ) -> io::Result<Self> {
        let meaning = Meaning::of_this_kernel(config).map_err(io::Error::other)?;
        let namespace = Namespace::own().map_err(io::Error::other)?;
        let settings = Settings { clock_offset, namespace: namespace.inode(), is_over: 0 };
        let mut ebpf = EbpfLoader::new().load(OBJECT).map_err(io::Error::other)?;
        let samples = RingBuf::try_from(ebpf.take_map("SAMPLES").ok_or_else(missing)?);
        let samples = samples.map_err(io::Error::other)?;
        let mut drops = Self { ebpf, samples, meaning, settings, link: None };
        drops.write_settings()?;
        let mut ours: HashMap<_, u32, u32> = drops.map("DEVICES")?;
        for device in devices {
            ours.insert(device, 1, 0).map_err(io::Error::other)?;
        }
        drops.set_no_losses()?;
        let program = drops.program()?;
        uninterrupted(|| program.load()).map_err(io::Error::other)?;
        drops.link = Some(drops.program()?.attach("kfree_skb").map_err(io::Error::other)?);
        Ok(drops)
    }

    /// Watches drops at a device in place of another one, which is gone.
    ///
    /// # Errors
    /// An error of the kernel.
    pub(super) fn replace_device(&mut self, old: u32, new: u32) -> io::Result<()> {
        let mut ours: HashMap<_, u32, u32> = self.map("DEVICES")?;
        // It may have been removed already.
        let _ = ours.remove(&old);
        ours.insert(new, 1, 0).map_err(io::Error::other)
    }

    /// Excludes what is no loss of a forwarded packet: used packets, and drops by the host's own sockets.
    fn set_no_losses(&mut self) -> io::Result<()> {
        let no_losses: Vec<u32> = self
            .meaning
            .causes()
            .filter(|(number, cause)| *number < MAX_REASONS && !is_loss(*cause))
            .map(|(number, _)| number)
            .collect();
        let map = self.ebpf.map_mut("NO_LOSSES").ok_or_else(missing)?;
        let mut table: Array<_, u32> = Array::try_from(map).map_err(io::Error::other)?;
        no_losses.into_iter().try_for_each(|number| table.set(number, 1, 0)).map_err(io::Error::other)
    }

    /// Applies the offset of a clock that was set.
    ///
    /// # Errors
    /// An error of the kernel.
    pub(super) fn set_clock(&mut self, offset: u64) -> io::Result<()> {
        self.settings.clock_offset = offset;
        self.write_settings()
    }

    /// Applies the codes of another configuration.
    pub(super) fn configure(&mut self, config: &DropReasonsConfig) {
        self.meaning.configure(config);
    }

    /// Takes the oldest pending packet.
    pub(super) fn poll(&mut self) -> Option<Dropped> {
        let item = self.samples.next()?;
        let (sample, _) = Sample::read_from_prefix(&item).ok()?;
        let captured = usize::try_from(sample.captured).unwrap_or(usize::MAX);
        let packet = sample.bytes.get(..captured).unwrap_or(&sample.bytes).to_vec();
        let route_error = u16::try_from(sample.route_error).unwrap_or_default();
        let code = self.meaning.code(sample.reason, &packet, route_error);
        Some(Dropped { time: sample.time, code, ingress: sample.ingress, device: sample.device, packet })
    }

    /// Stops watching drops.
    ///
    /// # Errors
    /// An error of the kernel.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        // A child process between fork and exec may hold a copy of the link's descriptor.
        self.settings.is_over = 1;
        self.write_settings()?;
        match self.link.take() {
            Some(link) => self.program()?.detach(link).map_err(io::Error::other),
            None => Ok(()),
        }
    }

    /// Numbers of dropped packets, by index of the device and the kernel's name of the reason.
    pub(super) fn counts(&self) -> BTreeMap<(u32, String), u64> {
        let map = self.ebpf.map("DROPS").and_then(|map| HashMap::<_, Key, u64>::try_from(map).ok());
        let Some(map) = map else { return BTreeMap::new() };
        let named = |([device, reason], count): (Key, u64)| ((device, self.meaning.name(reason)), count);
        map.iter().filter_map(Result::ok).map(named).collect()
    }

    /// Dropped packets without a sample, and those that did not fit into the table of counts.
    pub(super) fn faults(&self) -> [u64; 2] {
        let map = self.ebpf.map("FAULTS").and_then(|map| Array::<_, u64>::try_from(map).ok());
        [0, 1].map(|fault| map.as_ref().and_then(|map| map.get(&fault, 0).ok()).unwrap_or_default())
    }

    fn write_settings(&mut self) -> io::Result<()> {
        let bytes: [u8; size_of::<Settings>()] = zerocopy::transmute!(self.settings);
        let map = self.ebpf.map_mut("SETTINGS").ok_or_else(missing)?;
        let mut settings: Array<_, [u8; size_of::<Settings>()]> =
            Array::try_from(map).map_err(io::Error::other)?;
        settings.set(0, bytes, 0).map_err(io::Error::other)
    }

    fn map(&mut self, name: &str) -> io::Result<HashMap<&mut MapData, u32, u32>> {
        let map = self.ebpf.map_mut(name).ok_or_else(missing)?;
        HashMap::try_from(map).map_err(io::Error::other)
    }

    fn program(&mut self) -> io::Result<&mut RawTracePoint> {
        let program = self.ebpf.program_mut("dropped").ok_or_else(missing)?;
        program.try_into().map_err(io::Error::other)
    }
}

/// Whether the cause means the loss of a forwarded packet.
fn is_loss(cause: Cause) -> bool {
    !matches!(
        cause,
        Cause::NotLost
            | Cause::NoSocket
            | Cause::SocketFull
            | Cause::ListenQueueFull
            | Cause::SocketClosed
            | Cause::TcpState
    )
}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}
