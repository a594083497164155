//! Feeds the reports of a capture to the collector.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Error;
use inband_capture::{Record, start};
use inband_model::Nanos;
use inband_server::Replay;
use inband_wire::layers::{Fragment, Layers, Strictness};

use crate::input::Input;
use crate::unread::Unread;

/// How fast a capture is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// As fast as it can be read and processed.
    Full,
    /// As fast as it was captured.
    Recorded,
}

/// What a capture contained.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Datagrams fed to the replay.
    pub(super) datagrams: u64,
    /// Datagrams in fragments, which are not reassembled.
    pub(super) fragmented: u64,
    /// Packets of unknown link types.
    pub(super) unread: Unread,
}

/// A datagram to one of the ports.
#[derive(Debug, PartialEq, Eq)]
enum Datagram<'a> {
    Whole(SocketAddr, SocketAddr, &'a [u8]),
    /// The first fragment of a datagram.
    Fragmented,
}

/// Feeds every datagram to one of the ports into the replay, and counts them in `found`.
///
/// # Errors
/// The capture cannot be read to its end, or is a file and `stop` was set before its end; the records before
/// that have been fed.
pub(super) fn replay(
    input: &mut Input,
    ports: &[u16],
    pace: Pace,
    replay: &Replay,
    stop: &AtomicBool,
    found: &mut Found,
) -> Result<(), Error> {
    let mut record = Record::default();
    let mut clock = None;
    while input.read_record(&mut record)? {
        input.check_stopped(&record)?;
        if stop.load(Ordering::Relaxed) {
            break;
        }
        found.unread.note(&record);
        let (from, to, payload) = match datagram(&record, ports) {
            Some(Datagram::Whole(from, to, payload)) => (from, to, payload),
            Some(Datagram::Fragmented) => {
                found.fragmented += 1;
                continue;
            }
            None => continue,
        };
        if pace == Pace::Recorded {
            wait(&mut clock, record.captured_at_ns, stop);
        }
        found.datagrams += 1;
        if !replay.put(Nanos(record.captured_at_ns), from, to, payload) {
            break;
        }
    }
    Ok(())
}

/// The UDP datagram to one of the ports in a record.
fn datagram<'a>(record: &'a Record, ports: &[u16]) -> Option<Datagram<'a>> {
    let (link, at) = start(record.link_type, &record.data)?;
    let packet = record.data.get(at..)?;
    let layers = Layers::parse(link, packet, Strictness::Truncated).ok()??;
    let udp = layers.udp(packet).filter(|udp| ports.contains(&udp.destination_port.get()))?;
    if layers.fragment != Fragment::Whole {
        return Some(Datagram::Fragmented);
    }
    let flow = layers.five_tuple(packet);
    let from = SocketAddr::new(flow.source.to_canonical(), udp.source_port.get());
    let to = SocketAddr::new(flow.destination.to_canonical(), udp.destination_port.get());
    let end = layers.l4 + usize::from(udp.length.get());
    let payload = packet.get(layers.l4 + UDP_BYTES..end.min(layers.end).min(packet.len()))?;
    Some(Datagram::Whole(from, to, payload))
}

/// Sleeps until as much time has passed since the first record as lies between it and `at`.
fn wait(clock: &mut Option<(Instant, u64)>, at: u64, stop: &AtomicBool) {
    let (started, first) = *clock.get_or_insert_with(|| (Instant::now(), at));
    let due = Duration::from_nanos(at.saturating_sub(first));
    while let Some(rest) = due.checked_sub(started.elapsed()).filter(|rest| !rest.is_zero()) {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        std::thread::sleep(rest.min(MAX_SLEEP));
    }
}

const UDP_BYTES: usize = 8;
/// Interval at which `stop` is checked.
const MAX_SLEEP: Duration = Duration::from_millis(50);
