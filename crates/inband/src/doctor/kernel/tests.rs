use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{System, look, numbers};
use crate::doctor::finding::Status;

/// A system root that a test fills with files.
pub(in crate::doctor) struct Root(PathBuf);

static NEXT: AtomicU32 = AtomicU32::new(0);

impl Root {
    pub(in crate::doctor) fn new(files: &[(&str, &str)]) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("inband-doctor-{}-{number}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(root)
    }

    pub(in crate::doctor) fn system(&self) -> System<'_> {
        System { root: &self.0 }
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const RELEASE: &str = "proc/sys/kernel/osrelease";
const JIT: &str = "proc/sys/net/core/bpf_jit_enable";

#[test]
fn the_kernel_has_to_know_links_and_reasons() {
    let cases = [
        ("6.6.0-rc1\n", Status::Ok),
        ("6.18.44-cloud\n", Status::Ok),
        ("6.5.13\n", Status::Degraded),
        ("6.2\n", Status::Degraded),
        ("6.1.20\n", Status::Missing),
        ("unheard of", Status::Missing),
    ];
    for (release, status) in cases {
        let root = Root::new(&[(RELEASE, release)]);
        let findings = look(&root.system(), Ok(128));
        assert_eq!(findings[0].status, status, "{release}");
        assert_eq!(findings[0].fix.is_empty(), status == Status::Ok);
        assert_eq!(findings.len(), 2, "the JIT is not told where it cannot be read");
    }
}

#[test]
fn a_compiler_that_is_off_can_be_switched_on() {
    for (text, status) in [("0\n", Status::Degraded), ("1\n", Status::Ok), ("2\n", Status::Ok)] {
        let root = Root::new(&[(RELEASE, "6.6.1"), (JIT, text)]);
        let findings = look(&root.system(), Ok(128));
        assert_eq!(findings[2].status, status);
    }
    let root = Root::new(&[(JIT, "0")]);
    assert_eq!(look(&root.system(), Ok(1))[2].fix, ["sudo sysctl -w net.core.bpf_jit_enable=1"]);
}

#[test]
fn a_kernel_that_does_not_describe_itself_says_why() {
    let root = Root::new(&[(RELEASE, "6.6.1")]);
    let types = &look(&root.system(), Err("no such file".to_owned()))[1];
    assert_eq!((types.status, types.found.as_str()), (Status::Missing, "no such file"));
}

#[test]
fn a_release_begins_with_two_numbers() {
    assert_eq!(numbers("6.18.44-cloud"), Some((6, 18)));
    assert_eq!(numbers("7.0-rc2"), Some((7, 0)));
    assert_eq!((numbers("6"), numbers(""), numbers("six.one")), (None, None, None));
}
