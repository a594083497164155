#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::HostSettings;

#[test]
fn a_key_file_without_a_secret_is_refused_by_its_key() {
    let folder = Folder::new();
    let missing = folder.0.join("missing");
    for (path, reason) in [
        (folder.with("empty", b""), "it is empty"),
        (folder.with("newline", b"\n"), "it is empty"),
        (missing, "No such file or directory"),
    ] {
        for (setting, key) in [("key_file = FILE", "host.key_file"), ("keys = [FILE]", "host.keys")] {
            let settings = settings(setting, &path);

            let error = settings.check_keys().unwrap_err();

            let expected = format!("{key}: no secret in {}: {reason}", path.display());
            assert!(error.to_string().starts_with(&expected), "{error}");
            assert_eq!(error.key(), Some(key));
            assert!(settings.host.shared_keys().is_err(), "{setting}");
        }
    }
}

#[test]
fn secrets_below_sixteen_bytes_are_named_and_used() {
    let folder = Folder::new();
    // What is around the secret does not count.
    for (secret, is_short) in [(&b"0123456789abcde\n"[..], true), (b"0123456789abcdef", false)] {
        let path = folder.with("key", secret);
        let settings = settings("keys = [FILE]", &path);

        let short = settings.check_keys().unwrap();

        assert_eq!(short, if is_short { vec![path.as_path()] } else { Vec::new() });
        assert!(settings.host.shared_keys().is_ok());
    }
    assert!(settings("", Path::new("")).check_keys().unwrap().is_empty());
}

/// Settings with a line of `[host]`, in which FILE is a path.
fn settings(line: &str, path: &Path) -> HostSettings {
    let line = line.replace("FILE", &format!("{path:?}"));
    toml::from_str(&format!("[node]\nid = 1\n[host]\ndevices = [\"eth0\"]\n{line}\n")).unwrap()
}

/// A folder for key files.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("inband-keys-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn with(&self, name: &str, contents: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, contents).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
