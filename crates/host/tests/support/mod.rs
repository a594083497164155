//! Network namespaces of a test, which are removed at its end.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs::File;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use inband_testkit::widen_backlog;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// A network namespace of a test.
pub(crate) struct Space {
    name: String,
}

/// The longest wait of a test.
const PATIENCE: Duration = Duration::from_secs(20);

static NEXT: AtomicU32 = AtomicU32::new(0);

impl Space {
    /// Creates a namespace; `None`, with a message, where that is not permitted.
    pub(crate) fn new() -> Option<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let space = Self { name: format!("inband-test-{}-{number}", std::process::id()) };
        let made = Command::new("ip").args(["netns", "add", &space.name]).output();
        match made {
            Ok(output) if output.status.success() => {}
            other => {
                eprintln!("skipped, because no network namespace can be made here: {other:?}");
                return None;
            }
        }
        widen_backlog();
        space.ip("link set lo up");
        Some(space)
    }

    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from("/run/netns").join(&self.name)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Runs `ip` with these arguments in the namespace.
    pub(crate) fn ip(&self, words: &str) -> String {
        self.run("ip", words)
    }

    /// Runs `tc` with these arguments in the namespace.
    pub(crate) fn tc(&self, words: &str) -> String {
        self.run("tc", words)
    }

    /// Waits until the kernel accepts packets for a device that is up, as is its peer.
    pub(crate) fn await_up(&self, device: &str) {
        let since = Instant::now();
        while self.run("cat", &format!("/sys/class/net/{device}/operstate")).trim() != "up" {
            assert!(since.elapsed() < PATIENCE, "{device} does not come up");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sets a variable of the kernel in the namespace.
    pub(crate) fn sysctl(&self, name: &str, value: &str) {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        self.inside(move || std::fs::write(path, value).unwrap());
    }

    /// Runs `work` on a thread in the namespace.
    pub(crate) fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let space = File::open(self.path()).unwrap();
        thread::scope(|scope| {
            let worker = scope.spawn(|| {
                move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
                work()
            });
            worker.join().unwrap()
        })
    }

    /// Runs a program in the namespace and returns its output.
    pub(crate) fn run(&self, program: &str, words: &str) -> String {
        let words = words.split_whitespace();
        let output =
            Command::new("ip").args(["netns", "exec", &self.name, program]).args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        // A missing namespace needs no removal.
        let _ = Command::new("ip").args(["netns", "del", &self.name]).output();
    }
}
