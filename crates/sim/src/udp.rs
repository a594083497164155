//! The sending schedule of a UDP source.

use crate::flow::{Bursts, UdpTraffic};
use crate::random::Random;
use crate::time::Nanos;

#[cfg(test)]
mod tests;

/// The sending end of a UDP flow.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    traffic: UdpTraffic,
    random: Random,
    sent: u64,
    next_at: Nanos,
    /// End of the current burst.
    burst_until: Nanos,
}

impl Source {
    pub(crate) fn new(traffic: UdpTraffic, start_ns: Nanos, seed: u64) -> Source {
        let mut source =
            Source { traffic, random: Random::new(seed), sent: 0, next_at: start_ns, burst_until: 0 };
        if let Some(bursts) = traffic.bursts {
            source.burst_until = source.next_at + source.turn_ns(bursts, bursts.on_ns);
        }
        source
    }

    /// The number of the datagram due at `now`, from 0.
    pub(crate) fn poll_datagram(&mut self, now: Nanos) -> Option<u64> {
        if self.deadline()? > now {
            return None;
        }
        let number = self.sent;
        self.sent += 1;
        self.next_at += self.traffic.interval_ns.max(1);
        if let Some(bursts) = self.traffic.bursts
            && self.next_at > self.burst_until
        {
            self.pause(bursts);
        }
        Some(number)
    }

    /// When the next datagram is due; `None` when there is none.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        let ended = self.traffic.datagrams.is_some_and(|datagrams| self.sent >= datagrams);
        (!ended).then_some(self.next_at)
    }

    fn pause(&mut self, bursts: Bursts) {
        self.next_at += self.turn_ns(bursts, bursts.off_ns);
        self.burst_until = self.next_at + self.turn_ns(bursts, bursts.on_ns);
    }

    fn turn_ns(&mut self, bursts: Bursts, mean_ns: Nanos) -> Nanos {
        if bursts.regular { mean_ns } else { self.random.around(mean_ns) }
    }
}
