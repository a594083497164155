//! The settings in the documentation, taken together, name every key that the program knows.
#![allow(clippy::unwrap_used, reason = "a file of ours that cannot be read fails the test")]

use inband_server::Settings;
use inband_testkit::reference::{assert_every_key_is_there, with_examples};

#[test]
fn every_known_key_of_every_table_is_there() {
    let documents = [
        include_str!("../../../docs/collecting.md"),
        include_str!("../../../docs/events.md"),
        include_str!("../../../docs/exporting.md"),
    ];
    let text = documents.map(settings).concat();

    let tables = assert_every_key_is_there::<Settings>(&with_examples(&text));

    assert!(tables > 20, "{tables} tables");
}

/// The blocks of a document with tables of `collector.toml`, except repeated ones.
fn settings(document: &str) -> String {
    let blocks = document.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.filter(|block| block.starts_with('[') || block.starts_with("# ")).collect()
}
