//! How busy is a device with sending?

use std::io;

use inband_linux::device;
use inband_linux::ethtool;
use inband_linux::netlink::Netlink;

/// How busy a device is: a mean of the last tenths of a second.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// `None`: the device does not say how fast its link is.
    bits_per_second: Option<u64>,
    /// Bytes sent since the device is there, and when that was read, nanoseconds.
    last: Option<(u64, u64)>,
    /// The mean in parts of [`FULL`], of which each look adds a quarter of what it finds.
    mean: Option<u64>,
}

/// What stands for a full link: hundredths of a percent, with eight bits behind the point.
const FULL: u64 = 10_000 << 8;

impl Load {
    /// Begins to watch the device `name`.
    pub(crate) fn of(name: &str) -> Self {
        let megabits = ethtool::megabits_per_second(name).unwrap_or_default();
        Self::over(megabits.map(|megabits| u64::from(megabits) * 1_000_000))
    }

    const fn over(bits_per_second: Option<u64>) -> Self {
        Self { bits_per_second, last: None, mean: None }
    }

    /// Looks at the device with the interface index `device`.
    ///
    /// # Errors
    /// What the kernel says, such as that the device is gone.
    pub(crate) fn look(&mut self, netlink: &mut Netlink, device: u32, now: u64) -> io::Result<()> {
        if self.bits_per_second.is_some()
            && let Some(sent) = device::sent_bytes(netlink, device)?
        {
            self.note(sent, now);
        }
        Ok(())
    }

    /// How busy the device is, hundredths of a percent; `None`: nobody knows.
    pub(crate) fn utilization(&self) -> Option<u32> {
        self.mean.and_then(|mean| u32::try_from((mean + (1 << 7)) >> 8).ok())
    }

    /// Takes down that so many bytes were sent since the device is there.
    fn note(&mut self, sent_bytes: u64, now: u64) {
        let last = self.last.replace((sent_bytes, now));
        let (Some(bits_per_second), Some((before, then))) = (self.bits_per_second, last) else { return };
        let ns = now.saturating_sub(then);
        // Numbers that begin anew are those of another device.
        let Some(bytes) = sent_bytes.checked_sub(before).filter(|_| ns > 0) else {
            self.mean = None;
            return;
        };
        let possible = u128::from(bits_per_second) * u128::from(ns);
        let share = u128::from(bytes) * 8 * 1_000_000_000 * u128::from(FULL) / possible.max(1);
        let share = u64::try_from(share).unwrap_or(FULL).min(FULL);
        self.mean = Some(self.mean.map_or(share, |mean| (3 * mean + share) / 4));
    }
}

#[cfg(test)]
mod tests;
