#![allow(clippy::unwrap_used, reason = "these are tests")]

use inband_node::config::DropReasonsConfig;

use super::{Codes, is_same};
use crate::drops::causes::Hints;
use crate::drops::reasons::Reasons;

#[test]
fn a_reason_of_the_configuration_that_is_named_as_in_the_kernel_has_its_code() {
    let reasons = Reasons::of_names(&[(3, "NO_SOCKET"), (12, "NETFILTER_DROP")]);
    let config: DropReasonsConfig = toml::from_str("reason = [{ code = 77, name = \"no-socket\" }]").unwrap();

    let codes = Codes::new(&config, &reasons);

    assert_eq!(codes.code(&reasons, 3, Hints::default()), 77);
    assert_eq!(codes.code(&reasons, 12, Hints::default()), 80);
    assert_eq!(codes.code(&reasons, 4711, Hints::default()), 0);
}

#[test]
fn the_table_is_the_configured_one() {
    let reasons = Reasons::of_names(&[(15, "IP_INHDR")]);
    let used_up = Hints { ttl_used_up: true, ..Hints::default() };
    let codes = |table: &str| Codes::new(&toml::from_str(table).unwrap(), &reasons);
    assert_eq!(codes("table = \"p4lang-switch\"").code(&reasons, 15, used_up), 31);
    assert_eq!(codes("").code(&reasons, 15, used_up), 26);
    assert_eq!(codes("").code(&reasons, 15, Hints::default()), 198);
}

#[test]
fn names_are_compared_as_people_write_them() {
    assert!(is_same("no-socket", "NO_SOCKET") && is_same("NO_SOCKET", "NO_SOCKET"));
    assert!(!is_same("no-sockets", "NO_SOCKET") && !is_same("no-socket", "NO-SOCKET"));
}
