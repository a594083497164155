//! Parsing of times and sizes, and the round trip of the defaults.

use std::time::Duration;

use inband_model::quantity::size;

use super::{HistorySettings, Settings};

#[test]
fn the_defaults_are_those_of_an_empty_file_and_can_be_written_down() {
    let settings: Settings = toml::from_str("").unwrap();
    assert_eq!(settings, Settings::default());
    let written = toml::to_string(&settings).unwrap();
    assert!(written.contains("retain = \"7days\"") && written.contains("max_size = \"20GB\""), "{written}");
    assert_eq!(toml::from_str::<Settings>(&written).unwrap(), settings);
}

#[test]
fn sizes_have_decimal_units() {
    let sizes =
        [("20GB", 20_000_000_000), ("500M", 500_000_000), ("1 TB", 1_000_000_000_000), ("7kb", 7_000)];
    for (text, bytes) in sizes {
        assert_eq!(size::parse(text), Some(bytes), "{text}");
    }
    assert_eq!((size::parse("4096"), size::parse("0B")), (Some(4096), Some(0)));
    for wrong in ["", "GB", "-1GB", "1.5GB", "3XB", "99999999999TB"] {
        assert_eq!(size::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn history_is_kept_where_a_directory_is_named() {
    let settings: HistorySettings = toml::from_str("path = \"x\"\nretain = \"36h\"").unwrap();
    let store = settings.store().unwrap();
    assert_eq!((store.retain, store.max_size_bytes), (Duration::from_secs(36 * 3600), 20_000_000_000));
    assert!(toml::from_str::<HistorySettings>("path = \"\"").unwrap().store().is_none());
}

#[test]
fn tables_of_history_may_be_kept_for_a_time_of_their_own() {
    let text = "retain = \"7d\"\n[retain_tables]\nminutes = \"1y\"\nobservations = \"12h\"";
    let settings: HistorySettings = toml::from_str(text).unwrap();
    let store = settings.store().unwrap();
    assert_eq!(store.retain_tables["observations"], Duration::from_secs(12 * 3600));
    let written = toml::to_string(&settings).unwrap();
    assert_eq!(toml::from_str::<HistorySettings>(&written).unwrap(), settings);

    let error = toml::from_str::<HistorySettings>("[retain_tables]\nhops = \"1y\"").unwrap_err();
    assert!(error.to_string().contains("no table `hops`, expected one of: observations, paths"), "{error}");
}
