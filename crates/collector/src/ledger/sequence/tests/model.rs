//! The sequence against a model that knows what was sent.

use std::collections::BTreeSet;

use inband_model::Nanos;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};

use crate::ledger::{Arrival, LedgerSettings, Sequence, SequenceSpace};

/// What the network does to one report.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Arrives,
    Lost,
    Twice { again_after: usize },
    Delayed { by: usize },
}

/// One run of a node, from one restart to the next.
#[derive(Debug, Clone)]
struct Run {
    fates: Vec<Fate>,
}

/// The effects of the network, counted with knowledge of both ends.
#[derive(Debug, Default, PartialEq, Eq)]
struct Truth {
    lost: u64,
    duplicate: u64,
    reordered: u64,
    resets: u64,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn ledger_agrees_with_the_truth(
        runs in prop::collection::vec(run(), 1..4),
        first in 2_048_u32..4_096,
        bits in prop_oneof![Just(12_u32), Just(22), Just(32)],
    ) {
        // In a small space a restart can look like a step forward, so there the node does not restart; it
        // wraps.
        let runs = if bits == 12 { &runs[..1] } else { &runs[..] };
        let mut sequence = None;
        let mut now = Nanos::from_secs(1_700_000_000);
        let settings = LedgerSettings { reorder_window: 128, reset_below: 1, ..LedgerSettings::default() };
        let space = SequenceSpace::new(bits);
        let mut found = Truth::default();
        let mut truth = Truth::default();

        for (index, run) in runs.iter().enumerate() {
            // The first run may start anywhere; a restarted node starts at zero after some silence.
            let first = if index == 0 { first } else { 0 };
            let arrivals = deliver(&run.fates);
            truth.add(&arrivals, index > 0);
            for offset in arrivals {
                now = now + Nanos::from_millis(10);
                let number = first.wrapping_add(offset);
                let Some(sequence) = sequence.as_mut() else {
                    sequence = Some(Sequence::new(space, &settings, now, number));
                    continue;
                };
                found.count(sequence.arrive(&settings, now, number));
            }
            now = now + Nanos(5_000_000_001);
        }
        if let Some(sequence) = &mut sequence {
            sequence.confirm(&settings, now);
            found.lost = sequence.lost();
            prop_assert_eq!(sequence.lost_unknown(), 0);
        }

        prop_assert_eq!(found, truth);
    }

    #[test]
    fn any_numbers_at_any_time_neither_panic_nor_lose_more_than_was_skipped(
        steps in prop::collection::vec((any::<u32>(), 0_u64..20_000_000_000), 1..400),
        bits in 0_u32..40,
        window in any::<u32>(),
    ) {
        let settings = LedgerSettings { reorder_window: window, ..LedgerSettings::default() };
        let mut now = Nanos::ZERO;
        let mut sequence = Sequence::new(SequenceSpace::new(bits), &settings, now, 0);
        let mut skipped = 0;

        for (number, pause) in steps {
            now = now + Nanos(pause);
            if let Arrival::Gap(missing) = sequence.arrive(&settings, now, number) {
                skipped += u64::from(missing);
            }
            assert!(sequence.lost() <= skipped);
        }
    }
}

fn run() -> impl Strategy<Value = Run> {
    let fate = prop_oneof![
        8 => Just(Fate::Arrives),
        1 => Just(Fate::Lost),
        1 => (1_usize..60).prop_map(|again_after| Fate::Twice { again_after }),
        1 => (1_usize..60).prop_map(|by| Fate::Delayed { by }),
    ];
    // The first report arrives in its place: the ledger cannot know of those sent before it.
    prop::collection::vec(fate, 0..2_000).prop_map(|mut fates| {
        fates.insert(0, Fate::Arrives);
        Run { fates }
    })
}

/// The numbers in the order they arrive, counted from the first of the run.
fn deliver(fates: &[Fate]) -> Vec<u32> {
    let mut arrivals = Vec::new();
    for (place, fate) in fates.iter().enumerate() {
        match *fate {
            Fate::Arrives => arrivals.push((place, place)),
            Fate::Lost => {}
            Fate::Twice { again_after } => arrivals.extend([(place, place), (place + again_after, place)]),
            Fate::Delayed { by } => arrivals.push((place + by, place)),
        }
    }
    arrivals.sort_by_key(|(arrives_at, _)| *arrives_at);
    arrivals.into_iter().map(|(_, place)| u32::try_from(place).unwrap()).collect()
}

impl Truth {
    /// Adds the effects of one run, given the numbers in the order they arrived.
    fn add(&mut self, arrivals: &[u32], is_restart: bool) {
        let mut seen = BTreeSet::new();
        for number in arrivals {
            let is_behind = seen.last().is_some_and(|newest| number < newest);
            let is_new = seen.insert(*number);
            self.duplicate += u64::from(!is_new);
            self.reordered += u64::from(is_new && is_behind);
        }
        // What was sent after the last report that arrived leaves no trace.
        let sent = seen.last().map_or(0, |newest| u64::from(*newest) + 1);
        self.lost += sent - seen.len() as u64;
        self.resets += u64::from(is_restart);
    }

    fn count(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Duplicate => self.duplicate += 1,
            Arrival::Reordered => self.reordered += 1,
            Arrival::Reset(_) => self.resets += 1,
            Arrival::InOrder | Arrival::Gap(_) => {}
            Arrival::Late | Arrival::LossUnknown => unreachable!("the network did nothing of the kind"),
        }
    }
}
