//! Queue thresholds and report quotas.

use std::collections::BTreeMap;

use crate::config::{SmartConfig, SmartQueue};
use crate::error::ConfigError;

/// The thresholds of all queues.
#[derive(Clone, Debug)]
pub(crate) struct Queues {
    /// By queue id, for every egress interface without its own.
    by_queue: BTreeMap<u8, Thresholds>,
    by_interface: BTreeMap<(u16, u8), Thresholds>,
}

/// The remainder of quotas in use; at most one entry per interface and queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quotas(BTreeMap<(u16, u8), u32>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thresholds {
    trigger_ns: u32,
    reset_ns: u32,
    quota: u32,
}

/// The congestion state of a queue for one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Congestion {
    /// The queue is not congested, or not watched.
    None,
    /// The queue is congested: the packet is reported.
    Reported,
    /// The queue is congested, and its report quota is exhausted.
    OverQuota,
}

impl Queues {
    /// # Errors
    /// A key that is not a number, or a reset above its trigger.
    pub(super) fn new(config: &SmartConfig) -> Result<Self, ConfigError> {
        let mut by_interface = BTreeMap::new();
        for (interface, of_interface) in &config.interface {
            let section = format!("smart.interface.{interface}");
            let id = id_of(interface, &section, u16::MAX)?;
            for (queue, thresholds) in &of_interface.queue {
                let section = format!("{section}.queue.{queue}");
                let queue = u8::try_from(id_of(queue, &section, u16::from(u8::MAX))?).unwrap_or_default();
                by_interface.insert((id, queue), Thresholds::new(thresholds, &section)?);
            }
        }
        let mut by_queue = BTreeMap::new();
        for (queue, thresholds) in &config.queue {
            let section = format!("smart.queue.{queue}");
            let queue = u8::try_from(id_of(queue, &section, u16::from(u8::MAX))?).unwrap_or_default();
            by_queue.insert(queue, Thresholds::new(thresholds, &section)?);
        }
        Ok(Self { by_queue, by_interface })
    }

    /// Whether `latency_ns` in `queue` of `egress` counts as congestion.
    pub(super) fn is_over_trigger(&self, egress: u16, queue: u8, latency_ns: u32) -> bool {
        self.thresholds(egress, queue).is_some_and(|thresholds| latency_ns >= thresholds.trigger_ns)
    }

    // sd-fabric-1.0/queue-01
    fn thresholds(&self, egress: u16, queue: u8) -> Option<Thresholds> {
        self.by_interface.get(&(egress, queue)).or_else(|| self.by_queue.get(&queue)).copied()
    }
}

impl Quotas {
    /// Applies new thresholds; a quota in use is kept, but capped at the new one.
    pub(super) fn adopt(&mut self, queues: &Queues) {
        self.0.retain(|(egress, queue), left| {
            let thresholds = queues.thresholds(*egress, *queue);
            *left = thresholds.map_or(0, |thresholds| thresholds.quota.min(*left));
            thresholds.is_some()
        });
    }

    /// Records a packet that left by `egress` after `latency_ns` in `queue`.
    // sd-fabric-1.0/queue-02, sd-fabric-1.0/queue-03
    pub(super) fn observe(
        &mut self,
        queues: &Queues,
        (egress, queue): (u16, u8),
        latency_ns: u32,
    ) -> Congestion {
        let Some(thresholds) = queues.thresholds(egress, queue) else { return Congestion::None };
        if latency_ns >= thresholds.trigger_ns {
            return self.spend(egress, queue, thresholds);
        }
        if latency_ns < thresholds.reset_ns {
            self.0.remove(&(egress, queue));
        }
        Congestion::None
    }

    /// Records a packet dropped because `queue` of `egress` was full.
    pub(super) fn overflow(&mut self, queues: &Queues, egress: u16, queue: u8) -> Congestion {
        match queues.thresholds(egress, queue) {
            Some(thresholds) => self.spend(egress, queue, thresholds),
            None => Congestion::None,
        }
    }

    fn spend(&mut self, egress: u16, queue: u8, thresholds: Thresholds) -> Congestion {
        let left = self.0.entry((egress, queue)).or_insert(thresholds.quota);
        match left.checked_sub(1) {
            Some(rest) => {
                *left = rest;
                Congestion::Reported
            }
            None => Congestion::OverQuota,
        }
    }
}

impl Thresholds {
    fn new(config: &SmartQueue, section: &str) -> Result<Self, ConfigError> {
        let trigger_ns = config.trigger_ns;
        // sd-fabric-1.0/queue-04
        let reset_ns = config.reset_ns.unwrap_or(trigger_ns / 2);
        if reset_ns > trigger_ns {
            let expected = format!("at most trigger_ns, {trigger_ns}");
            return Err(ConfigError::out_of_range(&format!("{section}.reset_ns"), reset_ns, expected));
        }
        Ok(Self { trigger_ns, reset_ns, quota: config.quota })
    }
}

fn id_of(key: &str, section: &str, most: u16) -> Result<u16, ConfigError> {
    key.parse().ok().filter(|id| *id <= most).ok_or_else(|| {
        ConfigError::out_of_range(section, format!("`{key}`"), format!("a number from 0 to {most}"))
    })
}

#[cfg(test)]
mod tests;
