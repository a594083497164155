//! Prints a notice when the time of day is set.

use inband_server::Clock;

use crate::note::note;

/// Watches the clock.
pub(super) struct ClockWatch {
    clock: Clock,
    known: usize,
}

impl ClockWatch {
    pub(super) fn new(clock: &Clock) -> Self {
        Self { clock: clock.clone(), known: 0 }
    }

    /// Prints by how much the time of day was set since the last call.
    pub(super) fn look(&mut self) {
        let steps = self.clock.take_steps(&mut self.known);
        if !steps.is_empty() {
            let by = steps.iter().map(|step| i128::from(step.by_ns)).sum();
            note!("{}", text(by));
        }
    }
}

fn text(by_ns: i128) -> String {
    let (seconds, rest) = (by_ns.unsigned_abs() / 1_000_000_000, by_ns.unsigned_abs() / 1_000_000 % 1_000);
    let direction = if by_ns < 0 { "back" } else { "forward" };
    format!(
        "the clock was set {direction} by {seconds}.{rest:03} s: times from here on are by the new time of day"
    )
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn the_direction_of_a_step_is_told_in_words() {
        assert!(text(3_600_250_000_000).starts_with("the clock was set forward by 3600.250 s"));
        assert!(text(-1_500_000).starts_with("the clock was set back by 0.001 s"));
    }
}
