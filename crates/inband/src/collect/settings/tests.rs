use std::path::Path;

use inband::config::ConfigFile;

use super::{check_ranges, name_list};

fn checked(text: &str) -> Result<(), String> {
    let file = ConfigFile::of_text(Path::new("collector.toml"), text);
    check_ranges(&file, &file.parse().unwrap()).map_err(|error| error.to_string())
}

#[test]
fn values_that_would_be_limited_or_take_no_report_are_refused() {
    for text in [
        "",
        "[ledger]\nreorder_window = 64\n",
        "[ledger]\nreorder_window = 65536\n",
        "[receive]\nqueue_bytes = 65536\n",
    ] {
        assert_eq!(checked(text), Ok(()), "{text}");
    }
    for (text, expected) in [
        ("[ledger]\nreorder_window = 63\n", "ledger.reorder_window is 63, expected 64 to 65536"),
        ("[ledger]\nreorder_window = 65537\n", "ledger.reorder_window is 65537, expected 64 to 65536"),
        ("[receive]\nqueue_bytes = 0\n", "receive.queue_bytes is 0, expected at least 65536"),
    ] {
        let error = checked(text).unwrap_err();
        assert!(error.starts_with("collector.toml:2:") && error.contains(expected), "{error}");
    }
}

#[test]
fn a_names_file_that_names_a_thing_twice_is_refused() {
    let read = |text: &str| {
        let file = ConfigFile::of_text(Path::new("names.toml"), text);
        name_list(&file).map(drop).map_err(|error| error.to_string())
    };
    let once = "[[node]]\nid = 1\nname = \"a\"\n[[node]]\nid = 2\nname = \"a\"\n";
    assert_eq!(read(once), Ok(()));

    let twice = read(&once.replace("id = 2", "id = 1")).unwrap_err();

    assert!(twice.contains("[[node]] 1 is given twice"), "{twice}");
}
