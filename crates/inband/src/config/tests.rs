//! Does every mistake give one message with its place?

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::{ConfigFile, load};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    node: Node,
    #[serde(default)]
    source: Source,
    #[serde(default)]
    queue: BTreeMap<String, Node>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Node {
    id: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Source {
    mode: Mode,
    instructions: Vec<Mode>,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    #[default]
    Md,
    Mx,
    NodeId,
}

fn file(text: &str) -> ConfigFile {
    ConfigFile { path: "node.toml".into(), text: text.to_owned() }
}

fn mistake(text: &str) -> String {
    file(text).parse::<Config>().unwrap_err().to_string()
}

#[test]
fn a_right_file_is_read_and_numbers_may_be_hexadecimal() {
    let config: Config =
        file("node.id = 0x10\nsource.mode = \"node-id\"\nqueue.0 = { id = 3 }").parse().unwrap();
    assert_eq!(config.node.id, 16);
    assert_eq!((config.source.mode, config.source.instructions.len()), (Mode::NodeId, 0));
    assert_eq!(config.queue["0"].id, 3);
}

#[test]
fn an_unknown_key_is_shown_in_its_line() {
    assert_eq!(
        mistake("[node]\nid = 1\n\n[source]\nmod = \"md\"\n"),
        "\
node.toml:5:1: unknown key `mod` in [source]; did you mean `mode`?
   5 | mod = \"md\"
     | ^^^"
    );
}

#[test]
fn an_unknown_table_is_shown() {
    assert_eq!(
        mistake("[node]\nid = 1\n[sorce]\n"),
        "\
node.toml:3:2: unknown key `sorce`; did you mean `source`?
   3 | [sorce]
     |  ^^^^^"
    );
}

#[test]
fn an_unknown_value_is_shown() {
    assert_eq!(
        mistake("[node]\nid = 1\n[source]\ninstructions = [\"md\", \"nodeid\"]"),
        "\
node.toml:4:23: unknown value `nodeid` in [source]; did you mean `node-id`?
   4 | instructions = [\"md\", \"nodeid\"]
     |                       ^^^^^^^^"
    );
}

#[test]
fn a_number_out_of_range_is_shown() {
    let message = mistake("[node]\nid = 4294967296\n");
    assert!(
        message.starts_with("node.toml:2:6: invalid value: integer `4294967296`, expected u32"),
        "{message}"
    );
}

#[test]
fn a_missing_key_names_its_table() {
    assert!(
        mistake("[node]\n").starts_with("node.toml:1:1: missing key `id` in [node]"),
        "{}",
        mistake("[node]")
    );
    assert!(mistake("").starts_with("node.toml:1:1: missing key `node`"), "{}", mistake(""));
}

#[test]
fn a_syntax_error_is_one_message() {
    let message = mistake("[node]\nid = \n");
    assert!(message.starts_with("node.toml:2:6: "), "{message}");
    assert_eq!(message.lines().count(), 3, "{message}");
}

#[test]
fn a_mistake_found_later_is_shown_at_its_key() {
    let file = file("[source]\ninstructions = [\"md\"]\n");
    let message = file
        .mistake_at("source.instructions", "unknown instructions `mdd`, `mxx`; expected one of `md`, `mx`");
    assert_eq!(
        message.to_string(),
        "\
node.toml:2:16: unknown instructions `mdd`, `mxx` in [source]; did you mean `md`, `mx`?
   2 | instructions = [\"md\"]
     |                ^^^^^^"
    );
    assert_eq!(file.mistake_at("node.id", "out of range").to_string(), "node.toml: out of range");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = load::<Config>(Path::new("/nonexistent/node.toml")).unwrap_err().to_string();
    assert!(error.starts_with("cannot read /nonexistent/node.toml: No such file"), "{error}");
    let error = load::<Config>(Path::new("/")).unwrap_err().to_string();
    assert!(error.starts_with("cannot read /: "), "{error}");
}
