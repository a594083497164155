//! Which events belong together: those about the same place that come within a second of each other.

use std::collections::BTreeMap;

use inband_model::EventView;

/// Groups events by what they are about, and by time; those of a group come in the order in which they began.
pub(super) fn together(events: &[EventView]) -> Vec<Vec<&EventView>> {
    let mut by_subject: BTreeMap<String, Vec<&EventView>> = BTreeMap::new();
    for view in events {
        by_subject.entry(subject(&view.event.key)).or_default().push(view);
    }
    let mut groups = Vec::new();
    for mut views in by_subject.into_values() {
        views.sort_by_key(|view| view.event.first);
        let mut group: Vec<&EventView> = Vec::new();
        let mut last = 0;
        for view in views {
            if !group.is_empty() && view.event.first.0 > last + APART_NS {
                groups.push(std::mem::take(&mut group));
                last = 0;
            }
            last = last.max(view.event.last.0);
            group.push(view);
        }
        groups.push(group);
    }
    groups
}

/// What the key of an event is about: a queue and the interface it is of are one place.
pub(super) fn subject(key: &str) -> String {
    let words: Vec<&str> = key.split(' ').collect();
    let is_place = words.first() == Some(&"node") && words.len() >= 4;
    if is_place { words[..4].join(" ") } else { key.to_owned() }
}

/// Events further apart do not belong together.
const APART_NS: u64 = 1_000_000_000;
