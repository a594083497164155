use inband_model::Nanos;

use super::Hour;

#[test]
fn hours_have_the_names_of_the_calendar() {
    let hour = |seconds: u64| Hour::of(Nanos::from_secs(seconds)).directories().join("/");
    assert_eq!(hour(0), "date=1970-01-01/hour=00");
    assert_eq!(hour(951_782_399), "date=2000-02-28/hour=23");
    assert_eq!(hour(951_782_400), "date=2000-02-29/hour=00");
    assert_eq!(hour(1_709_251_199), "date=2024-02-29/hour=23");
    assert_eq!(hour(4_107_542_400), "date=2100-03-01/hour=00");
}

#[test]
fn every_hour_is_read_back_from_its_name() {
    for hour in (0..5_000_000).step_by(7).map(Hour) {
        let [date, of_day] = hour.directories();
        assert_eq!(Hour::parse(&date, &of_day), Some(hour));
    }
    assert_eq!(Hour::of(Nanos::MAX).directories()[0], "date=2554-07-21");
}

#[test]
fn other_names_are_no_hours() {
    for (date, hour) in [
        ("date=2024-13-01", "hour=00"),
        ("date=1969-12-31", "hour=00"),
        ("date=2024-01-00", "hour=00"),
        ("date=2024-01-01", "hour=24"),
        ("2024-01-01", "hour=00"),
        ("date=99999999999999999999-01-01", "hour=00"),
    ] {
        assert_eq!(Hour::parse(date, hour), None, "{date} {hour}");
    }
}
