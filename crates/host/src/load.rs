//! The load of a device: how busy it is with sending.

use std::io;

use inband_linux::ethtool;
use inband_linux::netlink::Netlink;
use inband_linux::statistics::Statistics;

/// The load of a device: a mean over the last tenths of a second.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// `None`: the device does not report the speed of its link.
    bits_per_second: Option<u64>,
    /// Total bytes sent by the device, and when they were read, nanoseconds.
    last: Option<(u64, u64)>,
    /// The mean in parts of [`FULL`]; each tenth of a second has a weight of a quarter, and a measurement may
    /// cover several.
    mean: Option<u64>,
}

/// A full link: hundredths of a percent, with eight fractional bits.
const FULL: u64 = 10_000 << 8;
/// The time between measurements of an agent that gets a processor at once, nanoseconds.
const TENTH_NS: u64 = 100_000_000;
/// The number of tenths after which nothing is left of a former mean.
const FORGOTTEN: u64 = 64;

impl Load {
    /// Starts measuring the device `name`.
    pub(crate) fn of(name: &str) -> Self {
        let megabits = ethtool::megabits_per_second(name).unwrap_or_default();
        Self::over(megabits.map(|megabits| u64::from(megabits) * 1_000_000))
    }

    const fn over(bits_per_second: Option<u64>) -> Self {
        Self { bits_per_second, last: None, mean: None }
    }

    /// Measures the device with the interface index `device`.
    ///
    /// # Errors
    /// An error of the kernel, for example because the device is gone.
    pub(crate) fn look(&mut self, netlink: &mut Netlink, device: u32, now: u64) -> io::Result<()> {
        if self.bits_per_second.is_some()
            && let Some(statistics) = Statistics::read(netlink, device)?
        {
            self.note(statistics.sent_bytes, now);
        }
        Ok(())
    }

    /// The load of the device, hundredths of a percent; `None`: unknown.
    pub(crate) fn utilization(&self) -> Option<u32> {
        self.mean.and_then(|mean| u32::try_from((mean + (1 << 7)) >> 8).ok())
    }

    /// Records the device's total of bytes sent.
    fn note(&mut self, sent_bytes: u64, now: u64) {
        let last = self.last.replace((sent_bytes, now));
        let (Some(bits_per_second), Some((before, then))) = (self.bits_per_second, last) else { return };
        let ns = now.saturating_sub(then);
        // A total that has decreased is another device's.
        let Some(bytes) = sent_bytes.checked_sub(before).filter(|_| ns > 0) else {
            self.mean = None;
            return;
        };
        let possible = u128::from(bits_per_second) * u128::from(ns);
        let share = u128::from(bytes) * 8 * 1_000_000_000 * u128::from(FULL) / possible.max(1);
        let share = u64::try_from(share).unwrap_or(FULL).min(FULL);
        let tenths = (ns.saturating_add(TENTH_NS / 2) / TENTH_NS).clamp(1, FORGOTTEN);
        let follow = |mean: u64| (0..tenths).fold(mean, |mean, _| (3 * mean + share) / 4);
        self.mean = Some(self.mean.map_or(share, follow));
    }
}

#[cfg(test)]
mod tests;
