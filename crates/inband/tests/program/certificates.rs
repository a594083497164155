//! Self-signed certificates as made with openssl.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::collector::Collector;
use crate::folder::Folder;

#[test]
fn top_asks_a_collector_whose_certificate_openssl_has_made() {
    let folder = Folder::new("certificates-top");
    let Some(collector) = start_with_tls(&folder) else { return };
    let top = |authorities: &str, name: &str| {
        let url = format!("https://{name}:{}", collector.api.port());
        folder.run(&format!("top {url} --authorities {authorities} --once --json"))
    };

    for name in ["localhost", "127.0.0.1"] {
        let asked = top("certificate.pem", name);
        assert_eq!(asked.code, 0, "{}", asked.stderr);
        assert!(asked.stdout.contains("\"ledger\":{"), "{}", asked.stdout);
    }
    make(&folder, "other", "/CN=localhost", "30").unwrap();
    for authorities in ["other.pem", "missing.pem", "certificate-key.pem"] {
        let refused = top(authorities, "localhost");
        assert!(refused.code != 0 && refused.stdout.is_empty(), "{authorities}: {}", refused.stderr);
    }
}

#[test]
fn a_webhook_reaches_a_server_whose_certificate_openssl_has_made() {
    let folder = Folder::new("certificates-webhook");
    let Some(server) = start_with_tls(&folder) else { return };
    let folder_of_other = Folder::new("certificates-webhook-sender");
    let hook = format!(
        "[[webhook]]\nurl = \"https://localhost:{}/hook\"\nauthorities = \"{}\"\nseverity = \"info\"\n",
        server.api.port(),
        folder.path("certificate.pem").display()
    );
    let sender = Collector::start_with(&folder_of_other, &hook, "exec \"$0\" \"$@\"");
    // A new flow is an event.
    sender.send(0..50);

    // The server has nothing at that path, and answers 404 over TLS.
    let deadline = Instant::now() + Duration::from_secs(60);
    while !sender.get("/api/v1/ledger").contains("404") {
        assert!(Instant::now() < deadline, "{}\n{}", sender.said(), sender.get("/api/v1/ledger"));
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A collector with a certificate made by `openssl req -x509`; `None` if openssl is missing.
pub(crate) fn start_with_tls(folder: &Folder) -> Option<Collector<'_>> {
    make(folder, "certificate", "/CN=localhost", "30")?;
    let settings = "tls_certificate = \"certificate.pem\"\ntls_key = \"certificate-key.pem\"\n";
    Some(Collector::start_with(folder, settings, "exec \"$0\" \"$@\""))
}

/// Makes `NAME.pem` and `NAME-key.pem`; `None` if openssl is missing.
fn make(folder: &Folder, name: &str, subject: &str, days: &str) -> Option<()> {
    let (key, certificate) = (format!("{name}-key.pem"), format!("{name}.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
        .args(["-subj", subject, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-days", days, "-keyout", &key, "-out", &certificate])
        .current_dir(folder.path(""))
        .output();
    let Ok(made) = made else {
        eprintln!("skipped: openssl is not installed");
        return None;
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some(())
}
