use std::path::Path;

use tempfile::TempDir;

use super::{Arguments, COVERAGE, examine, run};
use crate::problem::Problem;

const MUST: &str =
    "[[requirement]]\nid = \"md-01\"\nlevel = \"must\"\nsection = \"Header\"\ntext = \"Ver is 2\"\n";
const CODE: (&str, &str) = ("crates/wire/src/md.rs", "// int-2.1/md-01\n");
const TEST: (&str, &str) = ("crates/wire/src/md/tests.rs", "// int-2.1/md-01\n");

#[test]
fn the_requirements_of_this_workspace_are_well_formed() {
    let (problems, _) = examine(&crate::workspace_root()).unwrap();

    let cited =
        |problem: &&Problem| problem.place.starts_with("crates/") || problem.what.starts_with("a must that");
    let faults: Vec<_> = problems.iter().filter(|problem| !cited(problem)).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn a_must_with_code_and_test_is_in_order() {
    let root = workspace(MUST, &[CODE, TEST]);

    assert!(found(root.path()).is_empty());
}

#[test]
fn a_must_needs_both_code_and_test() {
    for (files, what) in [
        (&[CODE][..], "a must that no test cites"),
        (&[TEST][..], "a must that no code cites"),
        (&[("crates/wire/src/lib.rs", "")][..], "a must that neither code nor a test cites"),
    ] {
        let root = workspace(MUST, files);

        assert_eq!(
            found(root.path()),
            [format!("spec/requirements/int-2.1/md.toml md-01: {what}: Ver is 2")]
        );
    }
}

#[test]
fn an_inline_test_module_counts_as_test() {
    let text = "// int-2.1/md-01\nfn a() {}\n#[cfg(test)]\nmod tests {\n    // int-2.1/md-01\n}\n";
    let root = workspace(MUST, &[("crates/wire/src/md.rs", text)]);

    assert!(found(root.path()).is_empty());
}

#[test]
fn c_code_and_headers_are_read() {
    let root = workspace(MUST, &[("crates/host/src/bpf/md.h", "/* int-2.1/md-01 */\n"), TEST]);

    assert!(found(root.path()).is_empty());
}

#[test]
fn an_unknown_id_is_named_with_file_and_line() {
    for unknown in ["int-2.1/md-99", "int-2.1/nd-01", "int-2.2/md-01", "int-2.1/md"] {
        let text = format!("\n// see {unknown}.\n");
        let root = workspace(MUST, &[CODE, TEST, ("crates/wire/src/a.rs", &text)]);

        assert_eq!(
            found(root.path()),
            [format!("crates/wire/src/a.rs:2: cites {unknown}, which is no requirement")]
        );
    }
}

#[test]
fn paths_are_no_citations() {
    let text = "// spec/requirements/int-2.1/md.toml, registry/clap-4.5/src/lib.rs\n";
    let root = workspace(MUST, &[CODE, TEST, ("crates/wire/src/a.rs", text)]);

    assert!(found(root.path()).is_empty());
}

#[test]
fn an_exception_states_its_reason() {
    let root = workspace(&format!("{MUST}exception = \" \"\n"), &[("crates/wire/src/lib.rs", "")]);
    assert_eq!(found(root.path()).len(), 1);
    assert!(found(root.path())[0].ends_with("an exception states its reason"));

    let root = workspace(&format!("{MUST}exception = \"binds others\"\n"), &[("crates/wire/src/lib.rs", "")]);
    assert!(found(root.path()).is_empty());
}

#[test]
fn only_an_encapsulation_may_be_not_built_and_says_why() {
    let not_built = format!("{MUST}status = \"not built\"\n");
    for (rest, end) in [
        (
            "reason = \"read only\"\n",
            Some("only a requirement with scope = \"encapsulation\" may be not built"),
        ),
        ("scope = \"encapsulation\"\n", Some("a requirement that is not built states its reason")),
        ("scope = \"encapsulation\"\nreason = \"read only\"\n", None),
    ] {
        let root = workspace(&format!("{not_built}{rest}"), &[("crates/wire/src/lib.rs", "")]);
        let problems = found(root.path());
        match end {
            Some(end) => assert!(problems.len() == 1 && problems[0].ends_with(end), "{problems:?}"),
            None => assert!(problems.is_empty(), "{problems:?}"),
        }
    }
}

#[test]
fn what_code_cites_is_built() {
    let text = format!("{MUST}scope = \"encapsulation\"\nstatus = \"not built\"\nreason = \"read only\"\n");
    let root = workspace(&text, &[CODE]);

    assert!(found(root.path())[0].ends_with("is called not built, but code cites it"));
}

#[test]
fn a_misspelt_key_and_a_foreign_id_are_faults() {
    let root = workspace(&format!("{MUST}exeption = \"x\"\n"), &[("crates/wire/src/lib.rs", "")]);
    assert!(found(root.path())[0].contains("unknown field `exeption`"));

    let root =
        workspace(&MUST.replace("md-01", "mx-01"), &[("crates/wire/src/lib.rs", "// int-2.1/mx-01\n")]);
    assert!(
        found(root.path())
            .iter()
            .any(|problem| problem.ends_with("an id of this file is md- and two digits"))
    );
}

#[test]
fn an_id_is_given_once() {
    let root = workspace(&format!("{MUST}\n{MUST}"), &[CODE, TEST]);

    assert_eq!(found(root.path()), ["spec/requirements/int-2.1/md.toml md-01: this id is given twice"]);
}

#[test]
fn the_coverage_is_written_and_then_up_to_date() {
    let root = workspace(MUST, &[CODE, TEST]);
    let check = Arguments { check: true };
    assert!(run(root.path(), &check).is_err(), "nothing is written yet");

    run(root.path(), &Arguments { check: false }).unwrap();

    run(root.path(), &check).unwrap();
    let coverage = std::fs::read_to_string(root.path().join(COVERAGE)).unwrap();
    assert!(coverage.contains("| must | 1 | 1 | 0 | 0 | 0 | 0 |"), "{coverage}");
    let row = "| md-01 | must | Ver is 2 | covered; code [wire/src/md.rs](../crates/wire/src/md.rs); \
               test [wire/src/md/tests.rs](../crates/wire/src/md/tests.rs) |";
    assert!(coverage.contains(row), "{coverage}");
}

/// A workspace on disk with one requirement file and these sources.
fn workspace(requirements: &str, sources: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let requirements = [("spec/requirements/int-2.1/md.toml", requirements)];
    for (path, text) in requirements.iter().chain(sources) {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    root
}

fn found(root: &Path) -> Vec<String> {
    examine(root).unwrap().0.iter().map(ToString::to_string).collect()
}
