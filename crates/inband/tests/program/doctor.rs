//! `inband doctor` reports the true state of this machine to every user.

use std::io::ErrorKind;
use std::os::unix::process::CommandExt;

use rustix::net::sockopt;
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
    // Between the two runs other processes may take the port, or the disk.
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
fn doctor_calls_the_receive_buffer_what_the_kernel_grants_whoever_asks() {
    let folder = Folder::new("doctor-buffer");
    let wanted = 64 << 20;
    let most: u64 = std::fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap().trim().parse().unwrap();
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let is_forced = sockopt::set_socket_recv_buffer_size_force(&socket, wanted).is_ok();
    let limited = if most >= wanted as u64 { "ok" } else { "degraded" };
    // The same machine for root and for an unprivileged user, who cannot exceed the limit.
    let mut callers = vec![(None, if is_forced { "ok" } else { limited })];
    if is_forced {
        callers.push((Some(65_534), limited));
    }
    for (user, status) in callers {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_inband"));
        command.args(["doctor", "--json"]).current_dir(folder.path(""));
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let output = match command.output() {
            // The program may be in a directory that this user cannot enter.
            Err(error) if user.is_some() && error.kind() == ErrorKind::PermissionDenied => continue,
            output => output.unwrap(),
        };
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut checks = answer["checks"].as_array().unwrap().iter();
        let buffer = checks.find(|check| check["name"] == "receive buffer").unwrap();
        assert_eq!(buffer["status"], status, "user {user:?}: {buffer}");
        assert_eq!(buffer["found"].as_str().unwrap().starts_with("64 MB"), status == "ok", "{buffer}");
    }
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

#[test]
fn doctor_refuses_a_collector_s_settings_as_the_collector_does() {
    for (text, expected) in [
        ("[api]\nlisten = \"0.0.0.0:0\"\n", "is not a loopback address, so api.token must not be empty"),
        ("[api]\nread_token = \"x\"\n", "api.read_token is set and api.token is empty"),
        ("[api]\nbase_path = \"inband\"\n", "api.base_path = \"inband\" is not empty and no path"),
        (
            "[api]\ntls_certificate = \"a.pem\"\ntls_key = \"b.pem\"\n",
            "cannot use api.tls_certificate = \"a.pem\": ",
        ),
        ("[[webhook]]\nurl = \"ftp://x\"\n", "webhook-1: url = \"ftp://x\" has to begin with http://"),
        (
            "[[webhook]]\nname = \"x\"\nurl = \"http://a\"\n[[webhook]]\nname = \"x\"\nurl = \"http://b\"\n",
            "two outputs are named \"x\"",
        ),
        ("[otlp]\nendpoint = \"x\"\n", "otlp: endpoint = \"x\": "),
        ("[otlp]\nendpoint = \"http://x\"\nauthorities = \"a.pem\"\n", "otlp: cannot read a.pem"),
    ] {
        let folder = Folder::new("doctor-collector").with("collector.toml", text);
        for command in ["doctor --config", "collect -c"] {
            let outcome = folder.run(&format!("{command} collector.toml"));
            assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{command}: {outcome:?}");
            assert!(outcome.stderr.contains(expected), "{command}: {outcome:?}");
        }
        assert!(!folder.path("inband-data").exists(), "{text}: the store was created before");
    }
    let folder = Folder::new("doctor-collector").with("collector.toml", "[receive]\nlisten = []\n");
    let outcome = folder.run("doctor --json --config collector.toml");
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let mut checks = answer["checks"].as_array().unwrap().iter();
    let listen = checks.find(|check| check["name"] == "receive.listen").unwrap();
    assert_eq!((outcome.code, &listen["status"]), (1, &"missing".into()), "{listen}");
}

#[test]
fn doctor_reads_a_topology_as_a_lab_does() {
    let topology = "\
        name = \"x\"\n\
        switch = [{ name = \"s1\" }, { name = \"s2\" }]\n\
        host = [{ name = \"h1\", address = \"10.0.1.1/24\" }, { name = \"h2\", address = \"10.0.2.1/24\" }]\n\
        link = [{ ends = [\"h1\", \"s1\"] }, { ends = [\"s1\", \"s2\"] }, { ends = [\"s2\", \"h2\"] }]\n\
        [collector]\napi = \"127.0.0.1:1\"\n";
    let folder = Folder::new("doctor-lab")
        .with("lab.toml", topology)
        .with("wrong.toml", topology.replace("\"s2\"]", "\"s3\"]"));

    let outcome = folder.run("doctor --json --config lab.toml");
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let mut checks = answer["checks"].as_array().unwrap().iter();
    let lab = checks.find(|check| check["name"] == "lab").unwrap();
    assert_eq!(lab["found"], "`x`: 2 switches, 2 hosts, 3 links", "{lab}");

    let outcome = folder.run("doctor --config wrong.toml");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome:?}");
    assert!(outcome.stderr.contains("unknown host or switch `s3`"), "{outcome:?}");
}
