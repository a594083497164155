//! Report sessions: the collectors of reports, and their rates.

use std::collections::{HashSet, VecDeque};
use std::net::SocketAddr;

use inband_wire::report::earlier::DropSummary;
use inband_wire::report::group::MAX_HW_ID;

use crate::config::{Distribution, NodeConfig, ReportConfig, UnknownInstructions};
use crate::core::Core;
use crate::counters::{Counters, Outcome};
use crate::domains::KnownDomains;
use crate::error::ConfigError;
use crate::loss::Loss;
use crate::reported::Reported;
use crate::reporter::{Asked, Reporter};
use crate::token_bucket::TokenBucket;

/// The report sessions of the configuration.
#[derive(Clone, Debug)]
pub(crate) struct ReportSettings {
    node_id: u32,
    sessions: Vec<ReportConfig>,
    /// The collectors; packets to them are not watched.
    pub(crate) collectors: Vec<SocketAddr>,
    distribution: Distribution,
    /// Whether reports need the hash of their flow.
    pub(crate) want_hashes: bool,
}

/// The report sessions of a core, each with its own sequence numbers.
#[derive(Clone, Debug)]
pub(crate) struct Sessions {
    sessions: Vec<Session>,
    distribution: Distribution,
}

#[derive(Clone, Debug)]
struct Session {
    reporter: Reporter,
    limit: Option<TokenBucket>,
    /// The hashes of the pending datagrams, in order; `None` if they are not needed.
    hashes: Option<VecDeque<u32>>,
}

/// A datagram for a collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportDatagram<'a> {
    /// Index of its session in [`ReportConfig::sessions`].
    pub session: usize,
    /// Its UDP payload.
    pub payload: &'a [u8],
    /// A hash of the reported flow, for the UDP source port; 0 if the session has no `port_entropy`.
    pub flow_hash: u32,
}

/// A report with the hash that selects its session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addressed<'a> {
    pub(crate) reported: &'a Reported<'a>,
    /// The hash of its flow, if [`ReportSettings::want_hashes`].
    pub(crate) hash: u32,
}

impl ReportSettings {
    pub(crate) fn new(config: &NodeConfig) -> Self {
        let sessions = config.report.sessions();
        let distribution = config.report.distribute;
        let is_spread = distribution == Distribution::FlowHash && sessions.len() > 1;
        Self {
            node_id: config.node.id,
            collectors: sessions.iter().map(|session| session.collector).collect(),
            distribution,
            want_hashes: is_spread || sessions.iter().any(|session| session.port_entropy),
            sessions,
        }
    }

    /// Checks that every core of a node has a unique hw_id in every session.
    // report-2.0/group-03: numbers are counted by node id and hw_id.
    fn check_cores(&self, core: Core) -> Result<(), ConfigError> {
        let mut streams = HashSet::new();
        for session in &self.sessions {
            for index in 0..core.count {
                let hw_id = session.hw_id.saturating_add(index);
                if hw_id > MAX_HW_ID {
                    let most = MAX_HW_ID.saturating_sub(core.count - 1);
                    let expected = format!("0 to {most}, where {} cores report", core.count);
                    return Err(ConfigError::out_of_range("report.hw_id", session.hw_id, expected));
                }
                if !streams.insert((session.collector, hw_id)) {
                    let value = format!("collector {} with hw_id {hw_id}", session.collector);
                    return Err(ConfigError::Twice { key: "report.session".to_owned(), value });
                }
            }
        }
        Ok(())
    }
}

impl Sessions {
    /// The sessions of `core`, which reports under its own hw_ids.
    ///
    /// # Errors
    /// A core whose hw_id is out of range, or equals that of another session to the same collector.
    pub(crate) fn new(settings: &ReportSettings, core: Core) -> Result<Self, ConfigError> {
        settings.check_cores(core)?;
        let session = |report| Session::new(settings.node_id, report, core);
        let sessions = settings.sessions.iter().map(session).collect();
        Ok(Self { sessions, distribution: settings.distribution })
    }

    /// Queues the report in every session it belongs to; returns whether one accepted it.
    pub(crate) fn report(
        &mut self,
        addressed: &Addressed<'_>,
        asked: &Asked,
        domains: &KnownDomains,
        unknown: UnknownInstructions,
        counters: &mut Counters,
    ) -> bool {
        let now = addressed.reported.hop.device.clock();
        let mut is_taken = false;
        for session in self.of(addressed.hash) {
            let write =
                |reporter: &mut Reporter| reporter.report(addressed.reported, asked, domains, unknown);
            let outcome = session.queue(addressed.hash, now, write);
            is_taken |= outcome == Outcome::Reported;
            counters.count(outcome);
        }
        is_taken
    }

    /// Queues the report of a loss in every session it belongs to.
    pub(crate) fn report_loss(
        &mut self,
        loss: &Loss,
        summary: &DropSummary,
        domain: u16,
        now: u64,
        counters: &mut Counters,
    ) {
        let hash = loss.flow.entropy();
        for session in self.of(hash) {
            let write = |reporter: &mut Reporter| reporter.report_loss(loss, summary, domain, now);
            counters.count(session.queue(hash, Some(now), write));
        }
    }

    /// The oldest complete datagram of the first session that has one.
    pub(crate) fn poll(&mut self) -> Option<ReportDatagram<'_>> {
        let at = self.sessions.iter_mut().position(|session| session.reporter.queue().is_ready())?;
        let session = self.sessions.get_mut(at)?;
        let flow_hash = session.hashes.as_mut().and_then(VecDeque::pop_front).unwrap_or_default();
        let payload = session.reporter.queue().poll()?;
        Some(ReportDatagram { session: at, payload, flow_hash })
    }

    pub(crate) fn handle_timeout(&mut self, now: u64) {
        self.sessions.iter_mut().for_each(|session| session.reporter.queue().handle_timeout(now));
    }

    pub(crate) fn flush(&mut self) {
        self.sessions.iter_mut().for_each(|session| session.reporter.queue().flush());
    }

    /// The sessions for reports of a flow with this hash: all, or a single one.
    fn of(&mut self, hash: u32) -> &mut [Session] {
        if self.distribution == Distribution::All || self.sessions.len() < 2 {
            return &mut self.sessions;
        }
        let at = usize::try_from(hash).unwrap_or_default() % self.sessions.len();
        self.sessions.get_mut(at..=at).unwrap_or_default()
    }
}

impl Session {
    fn new(node_id: u32, config: &ReportConfig, core: Core) -> Self {
        let per_second = config.reports_per_second;
        Self {
            reporter: Reporter::new(node_id, config, config.hw_id + core.index),
            limit: (per_second > 0).then(|| TokenBucket::new(core.share(per_second))),
            hashes: config.port_entropy.then(VecDeque::new),
        }
    }

    fn queue(
        &mut self,
        hash: u32,
        now: Option<u64>,
        write: impl FnOnce(&mut Reporter) -> Outcome,
    ) -> Outcome {
        if let (Some(limit), Some(now)) = (&mut self.limit, now)
            && !limit.take_at(now)
        {
            return Outcome::ReportLimited;
        }
        let outcome = write(&mut self.reporter);
        // With port_entropy every report has a datagram of its own.
        if let (Outcome::Reported, Some(hashes)) = (outcome, &mut self.hashes) {
            hashes.push_back(hash);
        }
        outcome
    }
}
