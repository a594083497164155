use super::{Synchronisation, error, source, span};
use crate::doctor::finding::Status;
use crate::doctor::kernel::tests::Root;

const CURRENT: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";
const AVAILABLE: &str = "sys/devices/system/clocksource/clocksource0/available_clocksource";

#[test]
fn a_slow_source_can_be_left_for_a_quick_one_if_there_is_one() {
    let finding = |current: &str, available: &str| {
        let root = Root::new(&[(CURRENT, current), (AVAILABLE, available)]);
        source(&root.system()).unwrap()
    };
    assert_eq!(finding("tsc\n", "tsc hpet acpi_pm \n").status, Status::Ok);
    let slow = finding("hpet\n", "tsc hpet acpi_pm \n");
    assert_eq!(slow.status, Status::Degraded);
    assert_eq!(slow.fix, [format!("echo tsc | sudo tee /{CURRENT}")]);
    let alone = finding("acpi_pm\n", "acpi_pm\n");
    assert_eq!((alone.status, alone.fix.len()), (Status::Degraded, 0));
    assert_eq!(source(&Root::new(&[]).system()), None);
}

#[test]
fn a_clock_is_good_when_it_is_kept_in_time_within_a_millisecond() {
    let finding =
        |is_synchronised, most_error_us| error(Some(Synchronisation { is_synchronised, most_error_us }));
    assert_eq!(finding(true, 1_000).status, Status::Ok);
    assert_eq!(finding(true, 1_001).status, Status::Degraded);
    assert_eq!(finding(false, 0).found, "not synchronised");
    assert_eq!((finding(false, 0).status, error(None).status), (Status::Degraded, Status::Degraded));
}

#[test]
fn spans_have_the_unit_that_fits() {
    let cases = [(0, "0 µs"), (999, "999 µs"), (1_000, "1 ms"), (999_999, "999 ms"), (16_000_000, "16 s")];
    for (us, text) in cases {
        assert_eq!(span(us), text);
    }
}
