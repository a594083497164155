use inband_model::{Event, EventKind, Output, Phase, Severity};

use super::Wanted;
use crate::delivery::{Choice, Chosen};
use crate::sample::event;

#[test]
fn severity_and_kind_decide_and_the_rest_is_kept_back() {
    let tells = |severity, kinds: &[EventKind], event: &Event| {
        chooses(&mut Wanted::new(severity, kinds), event.clone())
    };
    let event = event(1, Phase::Once);
    for (least, expected) in [(Severity::Info, true), (Severity::Warning, true), (Severity::Critical, false)]
    {
        assert_eq!(tells(least, &[], &event), expected, "{least:?}");
    }
    assert!(tells(Severity::Info, &[EventKind::Drop, EventKind::UnknownNode], &event));
    assert!(!tells(Severity::Info, &[EventKind::Drop], &event));
    assert!(!tells(Severity::Info, &[], &Event { silenced: true, ..event }));
}

#[test]
fn the_end_is_told_where_the_beginning_was() {
    let mut wanted = Wanted::new(Severity::Warning, &[]);
    let begin = |number| event(number, Phase::Begin);
    let end = |number| event(number, Phase::End);
    let quiet = |event: Event| Event { silenced: true, severity: Severity::Info, ..event };

    assert!(chooses(&mut wanted, begin(1)));
    // Silenced since, and less severe at its end: the receiver of the beginning gets it.
    assert!(chooses(&mut wanted, quiet(end(1))));
    assert!(!chooses(&mut wanted, quiet(end(1))), "only once");

    assert!(!chooses(&mut wanted, quiet(begin(2))));
    assert!(!chooses(&mut wanted, quiet(end(2))));
}

#[test]
fn an_end_is_owed_only_where_the_beginning_found_room() {
    let mut wanted = Wanted::new(Severity::Info, &[]);
    for number in [1, 2] {
        let Chosen::Deliver(begin) = wanted.choose(&Output::Event(event(number, Phase::Begin))) else {
            panic!("{number}");
        };
        if number == 2 {
            wanted.handle_turned_away(begin);
        }
    }
    let mut ends = [1, 2].map(|number| wanted.choose(&Output::Event(event(number, Phase::End))));

    assert!(matches!(ends, [Chosen::DeliverAlways(_), Chosen::Deliver(_)]));
    ends[0] = wanted.choose(&Output::Event(event(1, Phase::End)));
    assert!(matches!(ends[0], Chosen::Deliver(_)), "only once");
}

fn chooses(wanted: &mut Wanted, event: Event) -> bool {
    match wanted.choose(&Output::Event(event)) {
        Chosen::Deliver(_) | Chosen::DeliverAlways(_) => true,
        Chosen::KeepBack => false,
        Chosen::Nothing => panic!("every event is of concern"),
    }
}
