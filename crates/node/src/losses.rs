//! Loss detection state of a sink.

use crate::config::LossConfig;
use crate::error::ConfigError;
use crate::loss::LossDetector;

/// Settings of a sink's loss detection and loss reports.
#[derive(Clone, Debug)]
pub(crate) struct LossSettings {
    is_on: bool,
    flows: usize,
    hold_ns: u64,
    idle_ns: u64,
    /// Domain Specific ID of loss reports 2.0.
    pub(crate) domain: u16,
}

/// The detector of a sink.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    pub(crate) detector: LossDetector,
    /// The latest time seen.
    pub(crate) clock: u64,
}

impl LossSettings {
    /// # Errors
    /// A size or domain out of range.
    pub(crate) fn new(config: &LossConfig) -> Result<Self, ConfigError> {
        if !(1..=MAX_FLOWS).contains(&config.flows) {
            return Err(ConfigError::out_of_range("loss.flows", config.flows, format!("1 to {MAX_FLOWS}")));
        }
        if config.domain == 0 {
            return Err(ConfigError::out_of_range("loss.domain", 0, "0x0001 to 0xffff"));
        }
        let ns = |ms: u64| ms.saturating_mul(1_000_000);
        Ok(Self {
            is_on: config.detect,
            flows: usize::try_from(config.flows).unwrap_or(usize::MAX),
            hold_ns: ns(config.hold_ms),
            idle_ns: ns(config.idle_ms),
            domain: config.domain,
        })
    }
}

impl Losses {
    /// `None` if loss detection is off.
    pub(crate) fn new(settings: &LossSettings) -> Option<Self> {
        let detector = || LossDetector::new(settings.flows, settings.hold_ns, settings.idle_ns);
        settings.is_on.then(|| Self { detector: detector(), clock: 0 })
    }
}

/// Maximum number of tracked flows.
const MAX_FLOWS: u32 = 1 << 24;
