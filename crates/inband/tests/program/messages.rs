//! Messages about users' errors: one sentence that names what is wrong, before anything is created.

use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use crate::collector::Collector;
use crate::folder::{Folder, Outcome};

/// Runs `collect` with an error in its settings; asserts that nothing was created.
fn mistake(folder: Folder, settings: &str) -> Outcome {
    let folder = folder.with("collector.toml", settings);
    let outcome = folder.run("collect -c collector.toml");
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(!folder.path("inband-data").exists(), "{}", outcome.stderr);
    outcome
}

#[test]
fn a_file_without_a_certificate_or_a_key_is_named_with_what_it_lacks() {
    let pem = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n";
    let cut = "-----BEGIN CERTIFICATE-----\nMA==\n";
    let cases = [
        ("hello", pem, "certificate.pem holds no certificate in PEM"),
        ("", pem, "certificate.pem holds no certificate in PEM"),
        (cut, pem, "certificate.pem: a section has no line `-----END`"),
        (pem, "hello", "key.pem holds no private key in PEM"),
        (pem, pem, "key.pem holds no private key in PEM"),
    ];
    for (certificate, key, message) in cases {
        let folder =
            Folder::new("messages-certificate").with("certificate.pem", certificate).with("key.pem", key);
        let settings =
            "[api]\nlisten = \"127.0.0.1:0\"\ntls_certificate = \"certificate.pem\"\ntls_key = \"key.pem\"\n";
        let told = mistake(folder, settings).stderr;

        assert!(told.contains(message), "{told}");
        assert!(!told.contains("peer") && !told.contains("[80") && !told.contains("no items"), "{told}");
    }
}

#[test]
fn a_certificate_without_a_key_is_a_mistake_in_the_settings() {
    for settings in ["tls_certificate = \"certificate.pem\"", "tls_key = \"key.pem\""] {
        let told =
            mistake(Folder::new("messages-half"), &format!("[api]\nlisten = \"127.0.0.1:0\"\n{settings}\n"))
                .stderr;

        assert!(told.contains("api.tls_certificate and api.tls_key belong together"), "{told}");
    }
}

#[test]
fn numbers_and_addresses_that_cannot_be_are_told_in_words() {
    let cases = [
        ("[receive]\nworkers = 0\n", ["workers", "1"]),
        ("[receive]\nlisten = [\"127.0.0.1:99999\"]\n", ["127.0.0.1:99999", "65535"]),
        ("[api]\nlisten = \"127.0.0.1:99999\"\n", ["127.0.0.1:99999", "65535"]),
        ("[api]\nlisten = \"nowhere\"\n", ["nowhere", "address"]),
    ];
    for (settings, words) in cases {
        let told = mistake(Folder::new("messages-numbers"), settings).stderr;

        assert!(words.iter().all(|word| told.contains(word)), "{told}");
        assert!(!told.contains("nonzero u8") && !told.contains("invalid socket address syntax"), "{told}");
    }
}

#[test]
fn one_worker_is_no_workers() {
    let folder = Folder::new("messages-one");
    let one = Collector::start(&folder);
    assert!(one.said().contains(", 1 worker\n"), "{}", one.said());

    let folder = Folder::new("messages-two");
    let listen = "collector.toml";
    let two = "[receive]\nlisten = [\"127.0.0.1:0\"]\nworkers = 2\n[api]\nlisten = \"127.0.0.1:0\"\n";
    let folder = folder.with(listen, two);
    let mut child = folder.command("collect -c collector.toml").spawn().unwrap();
    // The messages come behind the signal handlers.
    let mut messages = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    while !told.contains("answering on ") {
        assert!(messages.read_line(&mut told).unwrap() > 0, "{told}");
    }
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(told.contains(", 2 workers\n"), "{told}");
}

#[cfg(not(feature = "nats"))]
#[test]
fn an_output_that_is_not_built_in_is_told_before_anything_is_made() {
    let told = mistake(Folder::new("messages-nats"), "[nats]\nurl = \"nats://127.0.0.1:4222\"\n").stderr;

    assert!(told.contains("--features nats"), "{told}");
}

#[test]
fn top_without_a_pause_is_refused() {
    for interval in ["0", "0s", "1ms", "-1s"] {
        let refused = Folder::new("messages-top").run(&format!("top --interval={interval}"));

        assert_eq!(refused.code, 2, "{interval}: {}", refused.stderr);
        assert!(refused.stderr.contains("--interval"), "{}", refused.stderr);
    }
    // A valid interval is accepted; the address does not answer.
    let asked = Folder::new("messages-top").run("top 127.0.0.1:1 --interval=10ms");
    assert_eq!(asked.code, 1, "{}", asked.stderr);
}

#[test]
fn a_demo_whose_copies_nobody_takes_says_so() {
    let folder = Folder::new("messages-demo");
    // A port that was free a moment before.
    let closed = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let demo = folder.run(&format!("demo --json --duration 1s --report-to {closed}"));

    assert_eq!(demo.code, 0, "{}", demo.stderr);
    assert_eq!(
        demo.stderr.matches(&format!("nobody takes reports at {closed}")).count(),
        1,
        "{}",
        demo.stderr
    );
    assert!(demo.stderr.contains(&format!("copies to {closed}, ")), "{}", demo.stderr);
}

#[test]
fn a_demo_whose_copies_are_taken_says_nothing_of_them() {
    let folder = Folder::new("messages-demo-taken");
    let collector = Collector::start(&folder);
    let demo = folder.run(&format!("demo --json --duration 1s --report-to {}", collector.reports));

    assert_eq!(demo.code, 0, "{}", demo.stderr);
    assert!(!demo.stderr.contains("copies"), "{}", demo.stderr);
    assert!(collector.wait_for("accepted", 1) > 0);
}

#[test]
fn a_collector_with_the_names_of_the_demo_calls_nodes_as_the_demo_does() {
    let folder = Folder::new("messages-names");
    let written = folder.run("demo --json --duration 1s --write-names names.toml");
    assert_eq!(written.code, 0, "{}", written.stderr);
    let collector = Collector::start_with(&folder, "[names]\nfile = \"names.toml\"\n", "exec \"$0\" \"$@\"");
    let demo = folder.run(&format!("demo --duration 3s --report-to {}", collector.reports));
    assert_eq!(demo.code, 0, "{}", demo.stderr);
    collector.wait_for("accepted", 1);

    for answer in ["/api/v1/nodes", "/api/v1/flows"].map(|path| collector.get(path)) {
        assert!(answer.contains("leaf1") && answer.contains("spine2"), "{answer}");
    }
    assert!(demo.stdout.contains("leaf1 spine2 leaf4"), "{}", demo.stdout);
    let top = folder.run(&format!("top {} --once", collector.api));
    assert!(top.stdout.contains("leaf1") && !top.stdout.contains("node 1 "), "{}", top.stdout);
}
