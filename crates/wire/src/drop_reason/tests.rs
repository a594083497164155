//! The tables are complete, sorted, and differ only where expected.

use std::collections::BTreeSet;

use super::Table;

fn name(table: Table, code: u8) -> Option<&'static str> {
    table.get(code).map(|reason| reason.name)
}

#[test]
fn every_code_and_name_stands_once_and_every_reason_says_what_to_check() {
    for table in Table::ALL {
        let reasons = table.reasons();
        assert!(reasons.is_sorted_by(|a, b| a.code < b.code), "{}", table.name());
        let names: BTreeSet<_> = reasons.iter().map(|reason| reason.name).collect();
        assert_eq!(names.len(), reasons.len(), "{}", table.name());
        for reason in reasons {
            assert!(!reason.meaning.is_empty() && !reason.check.is_empty(), "{reason:?}");
            assert!(reason.name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')));
            assert_eq!(table.get(reason.code), Some(reason));
        }
        assert_eq!(table.get(255), None);
        assert_eq!(Table::by_name(table.name()), Some(table));
        assert_eq!(name(table, table.tail_drop()), Some("traffic-manager"));
        assert_eq!(name(table, 0), Some("unknown"));
    }
}

#[test]
fn the_tables_hold_the_codes_of_their_sources() {
    // sd-fabric-1.0/drop-03
    let codes = |table: Table| table.reasons().iter().map(|reason| reason.code).collect::<BTreeSet<u8>>();
    let set = |codes: &[u8]| codes.iter().copied().collect::<BTreeSet<u8>>();
    let common = [0, 26, 29, 55, 71, 80, 89, 128, 129, 130, 131, 132, 133, 134, 150, 160];
    assert_eq!(codes(Table::SdFabric1_0), set(&common));
    let newer = [&common[..], &[135, 136, 137, 138, 139, 140, 170, 171]].concat();
    assert_eq!(codes(Table::SdFabric1_1), set(&newer));
    let p4_16 = [
        &[0][..],
        &(10..=19).collect::<std::vec::Vec<u8>>(),
        &(25..=34).collect::<std::vec::Vec<u8>>(),
        &(40..=60).collect::<std::vec::Vec<u8>>(),
        &[70, 71, 72, 73, 75, 76, 77, 78],
        &(80..=94).collect::<std::vec::Vec<u8>>(),
        &(99..=115).collect::<std::vec::Vec<u8>>(),
    ];
    assert_eq!(codes(Table::SwitchP4_16), set(&p4_16.concat()));
    let p4lang = [
        &[0, 10, 11, 12, 13, 14, 15, 16][..],
        &(25..=33).collect::<std::vec::Vec<u8>>(),
        &[40, 41, 42, 43, 44, 50, 51, 60, 61, 62, 63, 64],
    ];
    assert_eq!(codes(Table::P4langSwitch), set(&p4lang.concat()));
}

#[test]
fn what_no_table_has_a_word_for_may_be_of_a_host() {
    let hosts = &super::host::REASONS;
    assert!(hosts.is_sorted_by(|a, b| a.code < b.code));
    for table in Table::ALL {
        for reason in hosts.iter().filter(|reason| reason.code >= 180) {
            assert_eq!(table.get(reason.code), Some(reason), "{}", table.name());
        }
    }
    assert_eq!(name(Table::SdFabric1_1, 31), Some("checksum-invalid"));
    assert_eq!(name(Table::SdFabric1_1, 190), Some("no-socket"));
    assert_eq!(name(Table::P4langSwitch, 31), Some("ip-ttl-zero"), "its own comes first");
    assert_eq!(Table::SdFabric1_1.get(208), None);
}

#[test]
fn codes_that_changed_their_meaning_are_told_apart() {
    assert_eq!(name(Table::SdFabric1_0, 133), Some("uplink-pdr-miss"));
    assert_eq!(name(Table::SdFabric1_1, 133), Some("upf-downlink-session-drop"));
    assert_eq!(name(Table::SdFabric1_0, 134), Some("far-miss"));
    assert_eq!(name(Table::SdFabric1_1, 134), Some("upf-uplink-session-miss"));
    assert_eq!(name(Table::SwitchP4_16, 31), Some("ip-checksum-invalid"));
    assert_eq!(name(Table::P4langSwitch, 31), Some("ip-ttl-zero"));
}
