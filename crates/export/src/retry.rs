//! Retries with exponential backoff.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use super::answer::Answer;
use super::queue::Ending;
use super::tally::{Failure, Tally};

/// The retry policy of an output.
#[derive(Debug, Clone)]
pub(super) struct Retry {
    /// Attempts for one delivery, the first included.
    pub(super) attempts: u32,
    /// Pause after the first attempt; it doubles after each further one.
    pub(super) first: Duration,
    /// Longest pause.
    pub(super) longest: Duration,
    /// The part of the output that delivers, if there are several; empty: there is one.
    pub(super) part: &'static str,
}

impl Retry {
    /// Retries until the messages are accepted or given up, and counts them. While the output ends, there is
    /// a single attempt, in the time left.
    pub(super) fn deliver(
        &self,
        messages: u64,
        tally: &Tally,
        ending: &Ending,
        mut attempt: impl FnMut(Option<Duration>) -> Answer,
    ) {
        let mut tried = 0;
        loop {
            let left = ending.left();
            if left.is_some_and(|left| left.is_zero()) {
                return tally.count_failed(Failure::Stopped, messages);
            }
            tried += 1;
            let answer = attempt(left);
            tally.note_part(self.part, &answer);
            let again = match answer {
                Answer::Taken => return tally.count_exported(messages),
                Answer::TakenInPart { rejected, .. } => {
                    let rejected = rejected.min(messages);
                    tally.count_failed(Failure::Rejected, rejected);
                    return tally.count_exported(messages - rejected);
                }
                Answer::Refused(_) => return tally.count_failed(Failure::Refused, messages),
                Answer::Away { .. } if left.is_some() => {
                    return tally.count_failed(Failure::Stopped, messages);
                }
                Answer::Away { .. } if tried >= self.attempts => {
                    return tally.count_failed(Failure::GaveUp, messages);
                }
                Answer::Away { again, .. } => again,
            };
            ending.pause(self.pause(tried, again, RandomState::new().hash_one(tried)));
            tally.count_retry();
        }
    }

    /// The pause after attempt `tried`: jittered down to half, so that clients that failed together do not
    /// retry together; longer if the other side asks for it, but at most `longest`.
    fn pause(&self, tried: u32, again: Option<Duration>, random: u64) -> Duration {
        let doubled = 2_u32.saturating_pow(tried.saturating_sub(1));
        let full = self.first.saturating_mul(doubled).min(self.longest);
        let share = u32::try_from(random % SHARES).unwrap_or(0);
        let jittered = full / 2 + full / 2 * share / u32::try_from(SHARES).unwrap_or(u32::MAX);
        jittered.max(again.unwrap_or_default()).min(self.longest)
    }
}

const SHARES: u64 = 1_024;

#[cfg(test)]
mod tests;
