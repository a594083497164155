//! The number of skipped sequence numbers that a loss explains.

use inband_model::Nanos;

use super::rate::ReportRate;
use super::settings::LedgerSettings;

/// The credit of numbers that one stream may skip as lost; a step beyond it is a restart.
///
/// Steps share the credit, so that a sender that forges numbers cannot lose more with many steps than with
/// one.
#[derive(Debug)]
pub(super) struct SkipCredit {
    left: u64,
    refilled_at: Nanos,
}

impl SkipCredit {
    pub(super) fn new(settings: &LedgerSettings, now: Nanos) -> Self {
        Self { left: u64::from(settings.reset_step), refilled_at: now }
    }

    /// Whether a loss explains `ahead` skipped numbers after `silence`; if so, they are taken off the credit.
    pub(super) fn explains(
        &mut self,
        settings: &LedgerSettings,
        rate: &ReportRate,
        now: Nanos,
        silence: Nanos,
        ahead: u32,
    ) -> bool {
        let step = u64::from(settings.reset_step);
        let elapsed = now.since(self.refilled_at);
        let refill = sent_in(settings, rate, elapsed);
        let refill = refill.saturating_add(step.saturating_mul(elapsed.0) / STEP_REFILL.0);
        self.left = self.left.saturating_add(refill).min(most_in(settings, rate, silence));
        self.refilled_at = self.refilled_at.max(now);
        let Some(left) = self.left.checked_sub(u64::from(ahead)) else { return false };
        self.left = left;
        true
    }
}

/// The most numbers that a node may have used in a span of time and the one before.
pub(super) fn most_in(settings: &LedgerSettings, rate: &ReportRate, span: Nanos) -> u64 {
    sent_in(settings, rate, span + EXPLAINED_DELAY).saturating_add(settings.reset_step.into())
}

fn sent_in(settings: &LedgerSettings, rate: &ReportRate, span: Nanos) -> u64 {
    rate.expected_in(span).saturating_mul(settings.reset_rate_factor.into())
}

/// Reports may wait this long in queues, so a burst of them may show a step that took place before the last
/// silence.
const EXPLAINED_DELAY: Nanos = Nanos::from_secs(1);
/// The time in which `reset_step` is refilled while the rate is unknown.
const STEP_REFILL: Nanos = Nanos::from_secs(60);
