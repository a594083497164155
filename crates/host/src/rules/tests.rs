#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::net::IpAddr;

use inband_node::config::{Actions, Prefix, WatchEntry};

use super::{MappedPrefix, RuleSet};
use crate::error::HostError;

fn prefix(text: &str) -> Option<Prefix> {
    Some(text.parse().unwrap())
}

fn rule_set(entries: &[WatchEntry]) -> Result<RuleSet, HostError> {
    RuleSet::new(entries, Actions::START_INT, &[], 0)
}

fn from(text: &str) -> WatchEntry {
    WatchEntry { source: prefix(text), ..WatchEntry::default() }
}

/// The rules in the prefix map for a source address.
fn found(set: &RuleSet, address: &str) -> u64 {
    let address: IpAddr = address.parse().unwrap();
    let host = MappedPrefix::of(Prefix::new(address, 128));
    let mapped = |prefix: &MappedPrefix| MappedPrefix { is_ipv4: host.is_ipv4, ..*prefix }.holds(&host);
    let longest =
        set.sources.iter().filter(|(prefix, _)| mapped(prefix)).max_by_key(|(prefix, _)| prefix.length);
    set.rules.any_source | longest.map_or(0, |(_, bits)| *bits)
}

#[test]
fn the_longest_prefix_names_all_rules_whose_prefix_holds_the_address() {
    let set = rule_set(&[from("10.0.0.0/8"), from("10.1.0.0/16"), WatchEntry::default()]).unwrap();

    assert_eq!(found(&set, "10.1.2.3"), 0b111);
    assert_eq!(found(&set, "10.2.2.3"), 0b101);
    assert_eq!(found(&set, "11.1.2.3"), 0b100);
}

#[test]
fn a_prefix_of_ipv6_does_not_mean_ipv4_nor_the_other_way_round() {
    let set = rule_set(&[from("::/0"), from("0.0.0.0/0"), from("::ffff:0:0/90")]).unwrap();

    assert_eq!(found(&set, "192.0.2.1"), 0b010);
    assert_eq!(found(&set, "2001:db8::1"), 0b001);
    assert_eq!(found(&set, "::fffe:0:1"), 0b101);
}

#[test]
fn either_is_one_rule_for_each_side() {
    let entry =
        WatchEntry { either: prefix("10.1.0.0/16"), source: prefix("10.0.0.0/8"), ..WatchEntry::default() };
    let set = rule_set(&[entry]).unwrap();

    assert_eq!(set.rules.count, 2);
    assert_eq!(found(&set, "10.1.0.1"), 0b11);
    assert_eq!(found(&set, "10.2.0.1"), 0b10);
    assert_eq!((set.rules.any_source, set.rules.any_destination), (0, 0b01));
}

#[test]
fn either_that_contradicts_a_side_watches_the_other_side_only() {
    let entry =
        WatchEntry { either: prefix("10.0.0.0/8"), source: prefix("192.0.2.0/24"), ..WatchEntry::default() };
    let set = rule_set(&[entry]).unwrap();

    assert_eq!(set.rules.count, 1);
    assert_eq!(found(&set, "192.0.2.7"), 0b1);
}

#[test]
fn more_rules_than_bits_are_refused() {
    let sixty_four = vec![from("10.0.0.0/8"); 64];
    assert_eq!(rule_set(&sixty_four).unwrap().rules.count, 64);

    let error = rule_set(&vec![from("10.0.0.0/8"); 65]).unwrap_err();
    assert!(matches!(error, HostError::Unsupported { key: "watch", .. }));
}

#[test]
fn a_key_that_the_programs_do_not_know_is_refused() {
    let error = rule_set(&[WatchEntry { dscp: Some(46), ..from("10.0.0.0/8") }]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "watch.dscp = 46 is not supported on a host: use entries of addresses, protocol and ports"
    );
}

#[test]
fn more_collectors_than_places_are_refused() {
    let collectors = vec!["127.0.0.1:32766".parse().unwrap(); 9];

    assert_eq!(RuleSet::new(&[], Actions::START_INT, &collectors[..8], 0).unwrap().rules.collectors, 8);
    let error = RuleSet::new(&[], Actions::START_INT, &collectors, 0).unwrap_err();
    assert!(matches!(error, HostError::Unsupported { key: "report.session", .. }));
}

#[test]
fn the_highest_priority_comes_first_and_what_wants_something_else_is_an_exception() {
    let entry = |text, action, priority| WatchEntry { action, priority, ..from(text) };
    let entries = [
        entry("10.0.0.0/8", Actions::ALL, 0),
        entry("10.1.0.0/16", Actions::REPORT_DROPS, 7),
        entry("10.2.0.0/16", Actions::START_INT | Actions::REPORT_FLOW, 7),
    ];
    let set = rule_set(&entries).unwrap();

    assert_eq!(
        (found(&set, "10.1.0.1"), found(&set, "10.2.0.1"), found(&set, "10.3.0.1")),
        (0b101, 0b110, 0b100)
    );
    assert_eq!([0, 1, 2].map(|rule: usize| set.rules.rule[rule].except), [1, 0, 0]);
}
