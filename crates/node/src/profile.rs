//! A node's compiled configuration.

use std::num::NonZeroU32;
use std::sync::Arc;

use inband_wire::int::Instructions;

use crate::config::{ChecksumUpdate, NodeConfig, ReportFilter, SinkMetadata};
use crate::congestion::CongestionFilter;
use crate::domains::KnownDomains;
use crate::drop_reasons::DropReasons;
use crate::earlier::EarlierSource;
use crate::encapsulation::Carriage;
use crate::error::ConfigError;
use crate::interfaces::Interfaces;
use crate::losses::LossSettings;
use crate::passage::{Hop, Identity, Passage};
use crate::path_mtu::PathMtu;
use crate::probes::Probes;
use crate::sessions::ReportSettings;
use crate::smart::SmartSettings;
use crate::source::SourcePlan;
use crate::support;
use crate::transit::Choices;
use crate::watchlist::Watchlist;

/// A node's configuration, checked and compiled.
///
/// Processing packets does not change it, so the cores of a node share one, whatever its size; mutable state
/// is in each core's [`Node`](crate::Node). [`Node::adopt`](crate::Node::adopt) replaces it.
#[derive(Clone, Debug)]
pub struct Profile {
    pub(crate) identity: Identity,
    /// Metadata the node reports as not available.
    pub(crate) withheld: Instructions,
    pub(crate) interfaces: Interfaces,
    pub(crate) carriage: Carriage,
    pub(crate) choices: Choices,
    pub(crate) domains: KnownDomains,
    pub(crate) watchlist: Arc<Watchlist>,
    pub(crate) congestion: CongestionFilter,
    pub(crate) plan: SourcePlan,
    /// Whether packets carry their flow sequence number as domain-specific metadata.
    pub(crate) numbers_flows: bool,
    /// The source of a version before 2.0; `None` in domains of 2.1.
    pub(crate) earlier_source: Option<EarlierSource>,
    /// Starts INT in a copy of one in this many watched packets; `None`: in the packets themselves.
    pub(crate) clone_every: Option<NonZeroU32>,
    pub(crate) probes: Probes,
    pub(crate) path_mtu: PathMtu,
    pub(crate) sink_metadata: SinkMetadata,
    pub(crate) restore_dscp: bool,
    pub(crate) loss: LossSettings,
    /// Filters and triggers, where reports are filtered.
    pub(crate) smart: Option<SmartSettings>,
    pub(crate) drop_reasons: DropReasons,
    pub(crate) report: ReportSettings,
}

impl Profile {
    /// Compiles the profile that `config` describes.
    ///
    /// # Errors
    /// The first setting that is out of range, contradicts another one, or is not supported.
    pub fn compile(config: &NodeConfig) -> Result<Arc<Self>, ConfigError> {
        support::check(config)?;
        let domains = KnownDomains::new(&config.domains)?;
        let carriage = Carriage::new(config);
        let plan = SourcePlan::new(config, &domains)?;
        Ok(Arc::new(Self {
            identity: Identity { node_id: Some(config.node.id), interfaces: true, level2_interfaces: true },
            withheld: Instructions::default(),
            interfaces: Interfaces::new(&config.interfaces)?,
            choices: Choices {
                unknown_instructions: config.node.unknown_instructions,
                checksum_update: config.checksum.update,
                mtu_action: config.mtu.action,
            },
            watchlist: Arc::new(Watchlist::new(&config.watchlist)),
            congestion: CongestionFilter::new(&config.source),
            numbers_flows: plan.numbers_flows(&domains),
            plan,
            probes: Probes::new(config, &carriage)?,
            carriage,
            domains,
            earlier_source: EarlierSource::new(config)?,
            clone_every: NonZeroU32::new(config.source.clone),
            path_mtu: PathMtu::new(&config.mtu),
            sink_metadata: config.sink.own_metadata,
            restore_dscp: config.sink.restore_dscp,
            smart: smart_settings(config)?,
            drop_reasons: DropReasons::new(&config.drop_reasons)?,
            loss: LossSettings::new(&config.loss)?,
            report: ReportSettings::new(config),
        }))
    }

    /// This profile with the flow watchlist, filters and triggers, and drop reasons of `config`.
    ///
    /// # Errors
    /// As [`Profile::compile`].
    pub fn reload(&self, config: &NodeConfig) -> Result<Arc<Self>, ConfigError> {
        support::check(config)?;
        let drop_reasons = DropReasons::new(&config.drop_reasons)?;
        let mut smart = smart_settings(config)?;
        if let (Some(smart), Some(before)) = (&mut smart, &self.smart) {
            smart.keep_domains(before);
        }
        let watchlist = Arc::new(Watchlist::new(&config.watchlist));
        Ok(Arc::new(Self { watchlist, smart, drop_reasons, ..self.clone() }))
    }

    /// This profile with other MTUs, bytes, by the identifier of the interface; `None`: the same as before.
    #[must_use]
    pub fn with_mtus(&self, mtu: impl Fn(u16) -> Option<usize>) -> Arc<Self> {
        Arc::new(Self { interfaces: self.interfaces.with_mtus(mtu), ..self.clone() })
    }

    /// Whether [`DeviceMetadata::counters`](crate::DeviceMetadata::counters) are used.
    #[must_use]
    pub fn reads_counters(&self) -> bool {
        self.domains.read_counters()
    }

    /// Reports `instructions` about this node as not available; without the checksum complement the L4
    /// checksum itself is updated.
    pub(crate) fn withhold(&mut self, instructions: Instructions) {
        self.withheld = self.withheld | instructions;
        if instructions.intersects(Instructions::NODE_ID) {
            self.identity.node_id = None;
        }
        self.identity.interfaces = !instructions.intersects(Instructions::INTERFACES);
        self.identity.level2_interfaces = !instructions.intersects(Instructions::LEVEL2_INTERFACES);
        if instructions.intersects(Instructions::CHECKSUM_COMPLEMENT) {
            self.choices.checksum_update = ChecksumUpdate::L4;
        }
    }

    /// This node's metadata for a packet with this passage.
    #[inline]
    pub(crate) fn hop<'a>(&self, passage: &'a Passage) -> Hop<'a> {
        Hop {
            identity: self.identity,
            ingress: self.interfaces.get(passage.ingress),
            egress: self.interfaces.get(passage.egress),
            device: &passage.metadata,
        }
    }
}

/// `None` where reports are not filtered.
fn smart_settings(config: &NodeConfig) -> Result<Option<SmartSettings>, ConfigError> {
    match config.report.filter {
        ReportFilter::None => Ok(None),
        ReportFilter::Smart => SmartSettings::new(config).map(Some),
    }
}
