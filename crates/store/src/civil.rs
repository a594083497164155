//! Hours in the Gregorian calendar.

use inband_model::Nanos;

/// Hours since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Hour(pub(crate) u64);

impl Hour {
    pub(crate) fn of(time: Nanos) -> Hour {
        Hour(time.0 / NANOS)
    }

    /// The first nanosecond after this hour.
    pub(crate) fn end(self) -> Nanos {
        Nanos(self.0.saturating_add(1).saturating_mul(NANOS))
    }

    /// The first nanosecond of this hour.
    pub(crate) fn start(self) -> Nanos {
        Nanos(self.0.saturating_mul(NANOS))
    }

    /// The directories of this hour, as Hive partitions.
    pub(crate) fn directories(self) -> [String; 2] {
        let (year, month, day) = date(self.0 / 24);
        [format!("date={year:04}-{month:02}-{day:02}"), format!("hour={:02}", self.0 % 24)]
    }

    /// Parses what `directories` returns.
    pub(crate) fn parse(date: &str, hour: &str) -> Option<Hour> {
        let mut parts = date.strip_prefix("date=")?.splitn(3, '-');
        let mut number = || parts.next()?.parse::<u64>().ok();
        let (year, month, day) = (number()?, number()?, number()?);
        let hour: u64 = hour.strip_prefix("hour=")?.parse().ok()?;
        let in_range = (1970..=9999).contains(&year) && (1..=12).contains(&month);
        (in_range && (1..=31).contains(&day) && hour < 24).then(|| Hour(days(year, month, day) * 24 + hour))
    }
}

/// Year, month and day from days since 1970, in the Gregorian calendar.
fn date(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that the leap day is the last.
    let days = days + DAYS_TO_1970;
    let (era, day_of_era) = (days / DAYS_OF_ERA, days % DAYS_OF_ERA);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year_of_era + year, month, day)
}

/// Days since 1970 of a date, from 1970 on.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + (153 * month + 2) / 5 + day - 1;
    era * DAYS_OF_ERA + day_of_era - DAYS_TO_1970
}

/// Nanoseconds per hour.
const NANOS: u64 = 3_600_000_000_000;
/// Days in 400 years.
const DAYS_OF_ERA: u64 = 146_097;
/// Days from March of year 0 to 1970.
const DAYS_TO_1970: u64 = 719_468;

#[cfg(test)]
mod tests;
