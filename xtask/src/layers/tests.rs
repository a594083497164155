use std::path::Path;

use tempfile::TempDir;

use super::check;
use super::purity::check_source;
use crate::source::Source;

#[test]
fn this_workspace_keeps_to_its_walls() {
    let problems = check(&crate::workspace_root()).unwrap();

    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn a_pierced_wall_is_named_with_both_crates() {
    let root = workspace(&[("node", ""), ("collector", &uses("node", "dependencies"))]);

    assert_eq!(
        found(root.path()),
        ["inband-collector: may not use inband-node, only inband-wire, inband-model"]
    );
}

#[test]
fn a_wall_is_pierced_by_build_and_target_dependencies_too() {
    for table in ["build-dependencies", "target.'cfg(unix)'.dependencies"] {
        let root = workspace(&[("node", ""), ("wire", &uses("node", table))]);

        assert_eq!(
            found(root.path()),
            ["inband-wire: may not use inband-node, only nothing of ours"],
            "{table}"
        );
    }
}

#[test]
fn a_renamed_dependency_is_still_seen() {
    let manifest = "[dependencies]\nfriend = { path = \"../node\", package = \"inband-node\" }\n";
    let root = workspace(&[("node", ""), ("store", manifest)]);

    assert_eq!(found(root.path()), ["inband-store: may not use inband-node, only inband-model"]);
}

#[test]
fn tests_may_use_what_the_crate_may_not() {
    let root = workspace(&[("node", ""), ("collector", &uses("node", "dev-dependencies"))]);

    assert!(found(root.path()).is_empty());
}

#[test]
fn an_allowed_arrow_passes() {
    let root = workspace(&[("wire", ""), ("node", &uses("wire", "dependencies"))]);

    assert!(found(root.path()).is_empty());
}

#[test]
fn the_program_may_use_everything_but_the_test_kit() {
    let manifest =
        "[dependencies]\ninband-wire = { path = \"../wire\" }\ninband-testkit = { path = \"../testkit\" }\n";
    let root = workspace(&[("wire", ""), ("testkit", ""), ("inband", manifest)]);

    assert_eq!(found(root.path()), ["inband: may use inband-testkit in tests only"]);
}

#[test]
fn a_crate_that_is_not_in_the_table_is_asked_for() {
    let root = workspace(&[("shiny", "")]);

    let problems = found(root.path());

    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("inband-shiny: this crate is not in the table"), "{problems:?}");
}

#[test]
fn an_engine_may_not_bring_in_a_runtime() {
    let root = workspace(&[
        ("sim", "[dependencies]\ntokio = \"1\"\n"),
        ("linux", "[dependencies]\ntokio = \"1\"\n"),
    ]);

    assert_eq!(found(root.path()), ["inband-sim: an engine does no I/O, so it may not use tokio"]);
}

#[test]
fn an_engine_that_reads_a_clock_is_named_with_file_and_line() {
    let root = workspace(&[("node", "")]);
    std::fs::write(root.path().join("crates/node/src/lib.rs"), "//! A node.\nuse std::time::Instant;\n")
        .unwrap();

    let problems = found(root.path());

    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("crates/node/src/lib.rs:2: "), "{problems:?}");
    assert!(problems[0].contains("`Instant`"), "{problems:?}");
}

#[test]
fn every_way_to_reach_outside_is_seen() {
    for code in [
        "use std::net::UdpSocket;",
        "use std::net::{IpAddr, TcpStream};",
        "let now = std::time::SystemTime::now();",
        "use std::{collections::HashMap, fs};",
        "use std::{\n    io::Read,\n    thread::{self, JoinHandle},\n};",
        "std :: fs :: read(path)",
        "lock: Mutex<u32>,",
    ] {
        assert_eq!(check_source(&Source::new("crates/node/src/lib.rs", code)).len(), 1, "{code}");
    }
}

#[test]
fn addresses_comments_strings_and_tests_are_no_io() {
    for code in [
        "use core::net::IpAddr;",
        "use std::net::IpAddr;",
        "use std::collections::HashMap; let fs = 1;",
        "// std::fs, a Mutex",
        "let text = \"std::thread\";",
        "#[cfg(test)]\nmod tests {\n    use std::time::Instant;\n}",
        "my_std::fs()",
    ] {
        assert_eq!(check_source(&Source::new("crates/node/src/lib.rs", code)), [], "{code}");
    }
}

/// A workspace on disk of crates with these folders and manifest endings.
fn workspace(crates: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(
        root.path().join("Cargo.toml"),
        "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n",
    )
    .unwrap();
    for (folder, rest) in crates {
        let source = root.path().join("crates").join(folder).join("src");
        std::fs::create_dir_all(&source).unwrap();
        std::fs::write(source.join("lib.rs"), "").unwrap();
        let name = if *folder == "inband" { "inband".into() } else { format!("inband-{folder}") };
        let manifest =
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{rest}");
        std::fs::write(root.path().join("crates").join(folder).join("Cargo.toml"), manifest).unwrap();
    }
    root
}

fn uses(folder: &str, table: &str) -> String {
    format!("[{table}]\ninband-{folder} = {{ path = \"../{folder}\" }}\n")
}

fn found(root: &Path) -> Vec<String> {
    check(root).unwrap().iter().map(ToString::to_string).collect()
}
