//! Incidents: events on one subject that come within a second of each other.

use std::collections::BTreeMap;

use inband_model::EventView;

/// Groups events by subject and time; the events of a group are sorted by their start.
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

/// The subject of an event's key: a queue and its interface are one subject.
pub(super) fn subject(key: &str) -> String {
    let words: Vec<&str> = key.split(' ').collect();
    let is_place = words.first() == Some(&"node") && words.len() >= 4;
    if is_place { words[..4].join(" ") } else { key.to_owned() }
}

/// Events further apart belong to different incidents.
const APART_NS: u64 = 1_000_000_000;
