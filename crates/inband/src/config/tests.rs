//! Every error gives one message with its place.

use std::collections::BTreeMap;
use std::path::Path;

use inband_collector::{EventSettings, PathSettings};
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
    for text in ["", "[source]\n", "[queue.0]\nid = 3\n[source]\nmode = \"mx\"\n"] {
        let message = mistake(text);
        assert!(message.starts_with("node.toml:1:1: missing key `node`\n"), "{message}");
    }
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
fn a_mistake_in_an_entry_of_a_list_is_shown_there() {
    let file = file("[[interface]]\nid = 1\n[[interface]]\nid = 2\nmtu = 5\n[[interface]]\nid = 3\n");
    let line = |key: &str| {
        let message = file.mistake_at(key, "wrong").to_string();
        message.split(':').nth(1).unwrap().to_owned()
    };

    assert_eq!(line("interface.1.mtu"), "5");
    assert_eq!(line("interface.2.mtu"), "6", "the entry, as it lacks the key");
    assert_eq!(line("interface.0"), "1");
    assert_eq!(line("interface.9.mtu"), "1", "the list");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = load::<Config>(Path::new("/nonexistent/node.toml")).unwrap_err().to_string();
    assert!(error.starts_with("cannot read /nonexistent/node.toml: No such file"), "{error}");
    let error = load::<Config>(Path::new("/")).unwrap_err().to_string();
    assert!(error.starts_with("cannot read /: "), "{error}");
}

#[test]
fn the_events_documentation_names_every_setting_with_its_default() {
    let text = include_str!("../../../../docs/events.md");
    let settings = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let documented: Collecting = file(settings).parse().unwrap();

    // Tables the file shows as examples are empty by default.
    let Collecting { mut events, mut paths } = documented;
    assert_eq!((paths.edges.len(), paths.links.len()), (1, 1));
    paths.edges.clear();
    paths.links.clear();
    assert_eq!(paths, PathSettings::default());
    assert_eq!((events.silence.len(), events.path_policy.len(), events.drop.reasons.len()), (1, 1, 1));
    events.silence.clear();
    events.path_policy.clear();
    events.drop.reasons.clear();
    assert_eq!(events, EventSettings::default());

    let mut keys = Vec::new();
    collect_keys(&toml::Value::try_from(EventSettings::default()).unwrap(), &mut keys);
    collect_keys(&toml::Value::try_from(PathSettings::default()).unwrap(), &mut keys);
    assert!(keys.len() > 40, "{keys:?}");
    let missing: Vec<_> = keys.iter().filter(|key| !settings.contains(&format!("{key} = "))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_mistake_in_the_settings_of_events_names_its_line_and_the_nearest_key() {
    let mistake = |text: &str| file(text).parse::<Collecting>().unwrap_err().to_string();

    let message = mistake("[events.queue_congestion]\ntriger_ns = 5\n");
    assert!(message.starts_with("node.toml:2:1: unknown key `triger_ns`"), "{message}");
    assert!(message.contains("did you mean `trigger_ns`?"), "{message}");
    let message = mistake("[events.micro_burst]\n");
    assert!(message.contains("did you mean `microburst`?"), "{message}");
    let message = mistake("[events.drop]\ntable = \"sd-fabrik-1.1\"\n");
    assert!(message.contains("did you mean `sd-fabric-1.1`?"), "{message}");
    let message = mistake("[[events.path_policy]]\nsource = \"10.0.0.0/40\"\n");
    assert!(message.contains("10.0.0.0/8"), "{message}");
}

/// The part of a collector's configuration that configures events.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Collecting {
    #[serde(default)]
    events: EventSettings,
    #[serde(default)]
    paths: PathSettings,
}

fn collect_keys(value: &toml::Value, keys: &mut Vec<String>) {
    let toml::Value::Table(table) = value else { return };
    for (key, value) in table {
        if value.is_table() {
            collect_keys(value, keys);
        } else if !matches!(key.as_str(), "silence" | "path_policy" | "reason" | "edge" | "link") {
            keys.push(key.clone());
        }
    }
}
