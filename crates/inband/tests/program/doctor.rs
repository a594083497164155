//! Does `inband doctor` tell the truth of this machine, whoever asks?

use serde_json::Value;

use crate::folder::Folder;

#[test]
fn doctor_says_of_everything_how_it_is_and_its_exit_code_says_whether_it_is_ready() {
    let folder = Folder::new("doctor");
    let outcome = folder.run("doctor --json");
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();

    assert_eq!(outcome.code, i32::from(answer["ready"] == false), "{outcome:?}");
    let checks = answer["checks"].as_array().unwrap();
    for area in ["kernel", "privileges", "bpf", "sockets", "clock", "collector"] {
        assert!(checks.iter().any(|check| check["area"] == area), "{area}: {}", outcome.stdout);
    }
    for check in checks {
        let is_ok = check["status"] == "ok";
        assert_eq!(check["why"] == "", is_ok, "{check}");
        assert!(!is_ok || check["fix"].as_array().unwrap().is_empty(), "{check}");
    }
    let commands = answer["commands"].as_array().unwrap();
    assert!(commands.iter().any(|verdict| verdict["command"] == "decode" && verdict["status"] == "ok"));
}

#[test]
fn doctor_tells_people_the_same() {
    let folder = Folder::new("doctor-text");
    let (text, json) = (folder.run("doctor"), folder.run("doctor --json"));
    let answer: Value = serde_json::from_str(&json.stdout).unwrap();
    // Between the two others may take the port, or the disk.
    let is_stable = |check: &&Value| check["area"] != "collector";
    for check in answer["checks"].as_array().unwrap().iter().filter(is_stable) {
        assert!(text.stdout.contains(check["name"].as_str().unwrap()), "{check}");
        for fix in check["fix"].as_array().unwrap() {
            assert!(text.stdout.contains(&format!("→ {}", fix.as_str().unwrap())), "{check}");
        }
    }
    assert!(!text.stdout.contains('\x1b'), "no colours for a pipe");
}

#[test]
fn doctor_looks_at_one_interface_and_refuses_one_that_is_not_there() {
    let folder = Folder::new("doctor-interface");
    let outcome = folder.run("doctor --json --interface lo");
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let checks = answer["checks"].as_array().unwrap();
    let names: Vec<_> =
        checks.iter().filter(|check| check["area"] == "interfaces").map(|check| &check["name"]).collect();
    assert_eq!(names, ["lo"]);

    let outcome = folder.run("doctor --interface no-such-one");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
    assert!(
        outcome.stderr.starts_with("error: there is no interface `no-such-one`, only "),
        "{}",
        outcome.stderr
    );
}
