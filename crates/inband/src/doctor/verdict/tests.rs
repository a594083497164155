use super::{is_ready, judge};
use crate::doctor::finding::{Area, Finding, Status};

#[test]
fn a_command_works_as_well_as_the_worst_of_what_it_needs() {
    let finding = |name, commands| Finding::ok(Area::Kernel, name, "", commands);
    let findings = [
        finding("good", &["host", "collect"]),
        finding("poor", &["host", "collect"]).degraded("slow", "mend"),
        finding("none", &["host"]).missing("not there", "get"),
    ];
    let names = ["decode", "collect", "host"].map(str::to_owned);
    let verdicts = judge(&names, &findings);
    let expected = [Status::Ok, Status::Degraded, Status::Missing];
    assert!(verdicts.iter().map(|verdict| verdict.status).eq(expected));
    assert_eq!(verdicts[1].because, ["poor"]);
    assert_eq!(verdicts[2].because, ["none"]);
    assert!(!is_ready(&verdicts) && is_ready(&verdicts[..2]));
}
