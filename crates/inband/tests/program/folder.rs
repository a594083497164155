//! Runs the program in a folder of the test, with files and stdin, as a user would.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder in which the program runs.
pub(crate) struct Folder(PathBuf);

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The exit code.
    pub(crate) code: i32,
    /// The results it printed.
    pub(crate) stdout: String,
    /// The messages it printed.
    pub(crate) stderr: String,
}

/// The folder of a failed test is kept.
impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

impl Folder {
    /// An empty folder for the test called `name`; several tests may use one name.
    pub(crate) fn new(name: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file.
    pub(crate) fn with(self, name: &str, contents: impl AsRef<[u8]>) -> Self {
        fs::write(self.path(name), contents).unwrap();
        self
    }

    /// The path of a file.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The bytes of a file.
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The program with arguments separated by spaces.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_inband"));
        command.current_dir(&self.0).args(arguments.split_whitespace());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program with arguments that may have spaces in them.
    pub(crate) fn run_arguments(&self, arguments: &[&str]) -> Outcome {
        let output = self.command("").args(arguments).stdin(Stdio::null()).output().unwrap();
        Outcome::of(output)
    }

    /// Runs the program.
    pub(crate) fn run(&self, arguments: &str) -> Outcome {
        self.run_with(arguments, &[])
    }

    /// Runs the program with `stdin`.
    pub(crate) fn run_with(&self, arguments: &str, stdin: &[u8]) -> Outcome {
        let mut child = self.command(arguments).spawn().unwrap();
        // A program that does not read its stdin may end before all is written.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        Outcome::of(child.wait_with_output().unwrap())
    }
}

impl Outcome {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().expect("the program ends by itself"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
