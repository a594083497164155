//! The node and its interface.

mod drops;
mod earlier;
mod inner;
mod losses;
mod plain;
mod probing;
mod replicate;
mod report;
mod roles;
mod smart;
mod too_big;
mod visit;
mod watch;

use std::sync::Arc;

use inband_wire::int::Instructions;
use inband_wire::layers::Link;

use crate::clones::Clones;
use crate::config::{NodeConfig, WatchEntry};
use crate::core::Core;
use crate::counters::{Counters, Outcome};
use crate::earlier::EarlierNumbers;
use crate::error::ConfigError;
use crate::flow_sequences::FlowSequences;
use crate::frame::Frame;
use crate::losses::Losses;
use crate::output::{Output, OwnPacket};
use crate::passage::Passage;
use crate::path_mtu::Answers;
use crate::probes::ProbeSchedule;
use crate::profile::Profile;
use crate::sessions::Sessions;
use crate::smart::Smart;
use crate::waiting::Waiting;
use crate::watchlist::{Sampling, Watchlist};
pub use drops::FlowDrops;

/// An INT node, or one of its cores: source, transit hop and sink, per packet and interface.
///
/// A packet that enters by an edge interface without INT and is on the watchlist starts INT; one with INT
/// gets this node's metadata; one that leaves by an edge interface is stripped.
///
/// # Driving it
///
/// A node opens no socket and reads no clock. Its shell does, under this contract:
///
/// * **A packet** that the device forwards is passed to [`handle_frame`](Self::handle_frame) once, when its
///   egress interface is known and, if the metadata includes queue state, when it leaves the queue. The
///   [`Verdict`] decides: on `Forward` the shell sends the frame's current contents, which may start
///   elsewhere in its buffer and be longer or shorter; on `Consume` and `Drop` it sends nothing.
/// * **A packet the device dropped** is passed, as received, to [`handle_drop`](Self::handle_drop); if only
///   counts are known, they are passed to [`handle_flow_drops`](Self::handle_flow_drops).
/// * **Time** is the device's clock in nanoseconds: one clock for the timestamps of a [`Passage`] and for
///   [`handle_timeout`](Self::handle_timeout). Call the latter at [`next_probe_at`](Self::next_probe_at), and
///   otherwise as often as a report may be late; a clock that goes back is harmless.
/// * **After every call**, drain [`poll_output`](Self::poll_output) until it returns `None`. Pending output
///   is bounded, at 256 packets of each kind and 1 MiB of reports a session; the excess is counted as shed.
/// * **A new configuration** is applied between two packets: [`reload`](Self::reload), or one
///   [`Profile::reload`] that all cores [`adopt`](Self::adopt).
/// * **At the end**, [`flush_reports`](Self::flush_reports) completes the pending output, and `poll_output`
///   returns it.
///
/// ```
/// use inband_node::config::{Mode, WatchEntry};
/// use inband_node::frame::{Frame, MAX_GROWTH};
/// use inband_node::{Node, NodeConfig, Output, Passage, Verdict};
/// use inband_wire::layers::Link;
///
/// // Node 7 reports every packet and leaves it as it is.
/// let mut config = NodeConfig::new(7);
/// config.source.mode = Mode::Xd;
/// config.watchlist = vec![WatchEntry::default()];
/// let mut node = Node::new(&config)?;
///
/// // An IPv4 header and a UDP header behind headroom, as they came by interface 1 and leave by interface 2.
/// let packet = b"\x45\0\0\x1c\0\0\x40\0\x40\x11\x26\xcf\x0a\0\0\x01\x0a\0\0\x02\x04\xd2\0\x35\0\x08\0\0";
/// let mut buffer = vec![0; MAX_GROWTH];
/// buffer.extend_from_slice(packet);
/// let mut frame = Frame::behind_headroom(&mut buffer).expect("the headroom is in front of it");
/// let passage = Passage { ingress: 1, egress: 2, ..Passage::default() };
///
/// assert_eq!(node.handle_frame(Link::Ip, &mut frame, &passage), Verdict::Forward);
/// assert_eq!(frame.bytes(), packet);
///
/// let mut reports = 0;
/// while let Some(output) = node.poll_output() {
///     match output {
///         Output::Report(datagram) => reports += usize::from(datagram.payload.len() > packet.len()),
///         // Whatever else a node makes is a packet that leaves by `egress`.
///         other => panic!("{other:?}"),
///     }
/// }
/// assert_eq!(reports, 1);
/// # Ok::<(), inband_node::ConfigError>(())
/// ```
// int-2.1/domain-05
#[derive(Clone, Debug)]
pub struct Node {
    profile: Arc<Profile>,
    numbers: Numbers,
    sampling: Sampling,
    clones: Clones,
    copies: Waiting<OwnPacket>,
    answers: Answers,
    probes: ProbeSchedule,
    /// Filter and trigger state, if reports are filtered.
    smart: Option<Box<Smart>>,
    /// Loss detection state of a sink.
    losses: Option<Box<Losses>>,
    sessions: Sessions,
    counters: Counters,
}

/// The numbers assigned by a source.
#[derive(Clone, Debug, Default)]
struct Numbers {
    /// The number of the latest packet.
    packet: u32,
    /// Flow sequence numbers, if packets carry them as domain-specific metadata.
    flows: FlowSequences,
    earlier: EarlierNumbers,
}

/// The decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Verdict {
    /// Send it, changed or not.
    Forward,
    /// Consumed: its D bit was set, or C, which marks a copy.
    Consume,
    /// Dropped: it may not enter the domain with INT, or its INT cannot be removed at the edge.
    Drop,
}

impl Node {
    /// Creates the node that `config` describes, on one core.
    ///
    /// # Errors
    /// The first setting that is out of range, contradicts another one, or is not supported.
    pub fn new(config: &NodeConfig) -> Result<Self, ConfigError> {
        Self::on_core(Profile::compile(config)?, Core::ONLY)
    }

    /// Creates one of the cores of the node that `profile` describes.
    ///
    /// # Errors
    /// Cores whose hw_ids collide, as described in [`Core`].
    pub fn on_core(profile: Arc<Profile>, core: Core) -> Result<Self, ConfigError> {
        Ok(Self {
            numbers: Numbers::default(),
            sampling: Sampling::new(&profile.watchlist),
            clones: Clones::default(),
            copies: Waiting::default(),
            answers: Answers::new(&profile.path_mtu, core),
            probes: ProbeSchedule::new(&profile.probes, core),
            smart: profile.smart.as_ref().map(|settings| Box::new(Smart::new(settings))),
            losses: Losses::new(&profile.loss).map(Box::new),
            sessions: Sessions::new(&profile.report, core)?,
            counters: Counters::default(),
            profile,
        })
    }

    /// The node's profile.
    #[must_use]
    pub const fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// Performs this node's INT processing on one frame, in place.
    ///
    /// The frame may be truncated after its headers, as in a capture with a snap length. Provide at least
    /// [`MAX_GROWTH`](crate::frame::MAX_GROWTH) bytes of headroom; with less, INT may not be added.
    #[inline]
    pub fn handle_frame(&mut self, link: Link, frame: &mut Frame<'_>, passage: &Passage) -> Verdict {
        let hop = self.profile.hop(passage);
        let fate = match self.smart {
            None => self.fate(link, frame, hop, None),
            Some(_) => self.fate_with_queue(link, frame, hop),
        };
        self.counters.count(fate);
        match fate {
            Outcome::Discarded | Outcome::CopyDiscarded => Verdict::Consume,
            fate if fate.is_drop() => Verdict::Drop,
            _ => Verdict::Forward,
        }
    }

    /// Returns the next pending output, reports before packets and the oldest of a kind first; `None` when
    /// everything has been returned.
    #[inline]
    pub fn poll_output(&mut self) -> Option<Output<'_>> {
        if let Some(datagram) = self.sessions.poll() {
            return Some(Output::Report(datagram));
        }
        if let Some(reply) = self.answers.poll() {
            return Some(Output::Reply(reply));
        }
        if let Some(clone) = self.clones.waiting.poll() {
            return Some(Output::Clone(clone));
        }
        if let Some(copy) = self.copies.poll() {
            return Some(Output::Copy(copy));
        }
        self.probes.poll().map(Output::Probe)
    }

    /// When [`Node::handle_timeout`] next has a probe to generate, nanoseconds of the device's clock; `None`
    /// without probes, or before its first call.
    #[must_use]
    pub fn next_probe_at(&self) -> Option<u64> {
        self.probes.next_at()
    }

    /// Generates the probes that are due at `now`, nanoseconds of the device's clock, and completes a
    /// datagram whose wait for more reports has expired.
    pub fn handle_timeout(&mut self, now: u64) {
        self.answers.advance(now);
        if !self.probes.is_empty() {
            self.make_probes(now);
        }
        if let Some(smart) = &mut self.smart {
            smart.handle_timeout(now);
        }
        self.close_gaps(now);
        self.sessions.handle_timeout(now);
    }

    /// Reports every missing packet, and completes a datagram that waits for more reports, as at the end of a
    /// run.
    pub fn flush_reports(&mut self) {
        self.close_all_gaps();
        self.sessions.flush();
    }

    /// Replaces the flow watchlist from the next packet on; all other state is kept.
    ///
    /// A profile shared with other cores is copied for this one; [`Profile::reload`] serves all of them.
    pub fn set_watchlist(&mut self, entries: &[WatchEntry]) {
        let watchlist = Arc::new(Watchlist::new(entries));
        self.sampling = Sampling::new(&watchlist);
        Arc::make_mut(&mut self.profile).watchlist = watchlist;
    }

    /// Applies the flow watchlist, the filters and triggers, and the drop reasons of `config` from the next
    /// packet on; all other state is kept: flows, quotas, numbers, counters, pending reports.
    ///
    /// # Errors
    /// As [`Node::new`]; nothing is changed then.
    pub fn reload(&mut self, config: &NodeConfig) -> Result<(), ConfigError> {
        let profile = self.profile.reload(config)?;
        self.adopt(profile);
        Ok(())
    }

    /// Replaces the profile by `profile`, the [`Profile::reload`] of this node's, from the next packet on;
    /// the cores of a node share it. Flows, quotas, numbers, counters and pending reports are kept.
    pub fn adopt(&mut self, profile: Arc<Profile>) {
        match (&profile.smart, &mut self.smart) {
            (None, smart) => *smart = None,
            (Some(settings), Some(smart)) => smart.adopt(settings),
            (Some(settings), smart) => *smart = Some(Box::new(Smart::new(settings))),
        }
        self.sampling = Sampling::new(&profile.watchlist);
        self.profile = profile;
    }

    /// Makes the node report `instructions` about itself as not available from the next packet on; device
    /// measurements are removed from a [`Passage`] by
    /// [`DeviceMetadata::without`](crate::DeviceMetadata::without).
    ///
    /// Without the checksum complement the node updates the L4 checksum itself.
    pub fn withhold(&mut self, instructions: Instructions) {
        Arc::make_mut(&mut self.profile).withhold(instructions);
    }

    /// The counters so far.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }
}
