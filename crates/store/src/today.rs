//! The clock for the age of history.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use inband_model::Nanos;

/// The time of day, running no faster than real time: setting the clock forward makes no history old before
/// the next start.
#[derive(Debug)]
pub(crate) struct Today {
    started: Instant,
    at_start: Nanos,
}

impl Today {
    pub(crate) fn start() -> Today {
        Today { started: Instant::now(), at_start: time_of_day() }
    }

    pub(crate) fn now(&self) -> Nanos {
        self.at(self.started.elapsed(), time_of_day())
    }

    fn at(&self, passed: Duration, time_of_day: Nanos) -> Nanos {
        let passed = Nanos(u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX));
        time_of_day.min(self.at_start + passed)
    }
}

fn time_of_day() -> Nanos {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Nanos(u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use inband_model::Nanos;

    use super::Today;

    #[test]
    fn a_clock_set_forward_is_not_followed_and_one_set_back_is() {
        let today = Today { started: Instant::now(), at_start: Nanos::from_secs(1_000) };
        let passed = Duration::from_secs(60);

        assert_eq!(today.at(passed, Nanos::from_secs(1_060)), Nanos::from_secs(1_060));
        assert_eq!(today.at(passed, Nanos::from_secs(1_000_000)), Nanos::from_secs(1_060));
        assert_eq!(today.at(passed, Nanos::from_secs(10)), Nanos::from_secs(10));
    }
}
