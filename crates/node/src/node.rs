//! What is a node, and how is it driven?

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
use crate::copies::PacketCopy;
use crate::core::Core;
use crate::counters::{Counters, Outcome};
use crate::earlier::EarlierNumbers;
use crate::error::ConfigError;
use crate::flow_sequences::FlowSequences;
use crate::frame::Frame;
use crate::losses::Losses;
use crate::own_packet::OwnPacket;
use crate::passage::Passage;
use crate::path_mtu::Answers;
use crate::probes::ProbeSchedule;
use crate::profile::Profile;
use crate::sessions::{ReportDatagram, Sessions};
use crate::smart::Smart;
use crate::waiting::Waiting;
use crate::watchlist::{Sampling, Watchlist};
pub use drops::FlowDrops;

/// One INT node: source, transit hop and sink, per packet and as its interfaces say.
///
/// A packet that enters on an edge interface without INT and is on the watchlist starts INT; one with INT
/// gets this node's metadata; one that leaves by an edge interface is stripped.
// int-2.1/domain-05
#[derive(Clone, Debug)]
pub struct Node {
    profile: Arc<Profile>,
    numbers: Numbers,
    sampling: Sampling,
    clones: Clones,
    copies: Waiting<PacketCopy>,
    answers: Answers,
    probes: ProbeSchedule,
    /// What filters and triggers remember, where reports are filtered.
    smart: Option<Box<Smart>>,
    /// What a sink knows of the numbers of flows.
    losses: Option<Box<Losses>>,
    sessions: Sessions,
    counters: Counters,
}

/// The numbers a source has given.
#[derive(Clone, Debug, Default)]
struct Numbers {
    /// That of the latest packet.
    packet: u32,
    /// Those of flows, where packets get them as domain-specific metadata.
    flows: FlowSequences,
    earlier: EarlierNumbers,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Verdict {
    /// It goes on, changed or not.
    Forward,
    /// It ends here: its D bit was set, or C, which marks a copy.
    Consume,
    /// It is dropped: it may not enter the domain with INT, or INT cannot be taken out of it at its end.
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
    /// Cores that cannot be told apart by their hw_id, as [`Core`] says.
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

    /// What the node does.
    #[must_use]
    pub const fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// Does this node's INT work on one frame, in place.
    ///
    /// The frame may be cut behind its headers, as in a capture with a snap length. Give it at least
    /// [`MOST_GROWTH`](crate::frame::MOST_GROWTH) bytes of headroom, or INT is not added where it is short.
    #[inline]
    pub fn handle_frame(&mut self, link: Link, frame: &mut Frame<'_>, passage: &Passage) -> Verdict {
        let fate = match self.smart {
            None => self.fate(link, frame, passage, None),
            Some(_) => self.fate_with_queue(link, frame, passage),
        };
        self.counters.count(fate);
        match fate {
            Outcome::Discarded | Outcome::CopyDiscarded => Verdict::Consume,
            fate if fate.is_drop() => Verdict::Drop,
            _ => Verdict::Forward,
        }
    }

    /// Takes the oldest report, the payload of one UDP datagram to the collector.
    pub fn poll_report(&mut self) -> Option<&[u8]> {
        self.sessions.poll().map(|datagram| datagram.payload)
    }

    /// Takes the oldest report of the first session that has one, with what its packet needs.
    pub fn poll_datagram(&mut self) -> Option<ReportDatagram<'_>> {
        self.sessions.poll()
    }

    /// Takes the oldest packet this node made itself, a copy of one it forwarded; it leaves by the same interface.
    pub fn poll_packet(&mut self) -> Option<Vec<u8>> {
        self.clones.waiting.poll()
    }

    /// Takes the oldest message of this node to the sender of a packet; it leaves by the interface the packet came
    /// in by.
    pub fn poll_reply(&mut self) -> Option<OwnPacket> {
        self.answers.poll()
    }

    /// Takes the oldest probe this node made, a packet in an Ethernet frame.
    pub fn poll_probe(&mut self) -> Option<OwnPacket> {
        self.probes.poll()
    }

    /// When [`Node::handle_timeout`] has a probe to make, nanoseconds of the device's clock; `None` without probes, or
    /// before it was called for the first time.
    #[must_use]
    pub fn next_probe_at(&self) -> Option<u64> {
        self.probes.next_at()
    }

    /// Makes the probes that are due at `now`, nanoseconds of the device's clock, and completes a datagram that has
    /// waited for more reports for its time.
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

    /// Tells of every packet that is missing, and completes a datagram that waits for more reports, as at the end of
    /// a run.
    pub fn flush_reports(&mut self) {
        self.close_all_gaps();
        self.sessions.flush();
    }

    /// Replaces the flow watchlist from the next packet on; everything else goes on as it was.
    pub fn set_watchlist(&mut self, entries: &[WatchEntry]) {
        let watchlist = Arc::new(Watchlist::new(entries));
        self.sampling = Sampling::new(&watchlist);
        Arc::make_mut(&mut self.profile).watchlist = watchlist;
    }

    /// Takes over the flow watchlist, the filters and triggers, and the drop reasons of `config` from the next packet
    /// on; everything else goes on as it was: what is known of flows, quotas, numbers, counters, reports that wait.
    ///
    /// # Errors
    /// As [`Node::new`]; nothing has changed then.
    pub fn reload(&mut self, config: &NodeConfig) -> Result<(), ConfigError> {
        let profile = self.profile.reload(config)?;
        self.adopt(profile);
        Ok(())
    }

    /// Takes over `profile`, the [`Profile::reload`] of this node's, from the next packet on; the cores of a node share
    /// it. What is known of flows, quotas, numbers, counters and reports that wait stay as they were.
    pub fn adopt(&mut self, profile: Arc<Profile>) {
        match (&profile.smart, &mut self.smart) {
            (None, smart) => *smart = None,
            (Some(settings), Some(smart)) => smart.adopt(settings),
            (Some(settings), smart) => *smart = Some(Box::new(Smart::new(settings))),
        }
        self.sampling = Sampling::new(&profile.watchlist);
        self.profile = profile;
    }

    /// Makes the node answer `instructions` about itself as not available from here on; what the device
    /// measures is left out of a [`Passage`] by [`DeviceMetadata::without`](crate::DeviceMetadata::without).
    ///
    /// Without the checksum complement it updates the L4 checksum itself.
    pub fn withhold(&mut self, instructions: Instructions) {
        Arc::make_mut(&mut self.profile).withhold(instructions);
    }

    /// What happened so far.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }
}
