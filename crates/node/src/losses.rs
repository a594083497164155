//! What a sink remembers of packets that its sources numbered.

use crate::config::LossConfig;
use crate::error::ConfigError;
use crate::loss::LossDetector;

/// How a sink looks for losses and reports them.
#[derive(Clone, Debug)]
pub(crate) struct LossSettings {
    is_on: bool,
    flows: usize,
    hold_ns: u64,
    idle_ns: u64,
    /// Domain Specific ID of reports 2.0 about losses.
    pub(crate) domain: u16,
}

/// The detector of a sink.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    pub(crate) detector: LossDetector,
    /// The interface of the latest packet that a summary names: by which it left, of Host-INT by which it came.
    pub(crate) egress: u16,
    /// The latest time that was seen.
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
    /// `None` where the sink does not look for losses.
    pub(crate) fn new(settings: &LossSettings) -> Option<Self> {
        let detector = || LossDetector::new(settings.flows, settings.hold_ns, settings.idle_ns);
        settings.is_on.then(|| Self { detector: detector(), egress: 0, clock: 0 })
    }
}

/// Most flows that can be followed.
const MAX_FLOWS: u32 = 1 << 24;
