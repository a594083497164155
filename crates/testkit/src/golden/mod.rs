//! Golden directories: runs their steps, and compares or blesses the results.
//!
//! A golden directory holds `case.toml`, the inputs, and the expected results. Packets are in `NAME.hex` as
//! readable text; the program sees them as `NAME.pcap`. With `INBAND_BLESS=1` the expected results are
//! written from the program's output; review the difference before committing it.

mod annotate;
mod case;
mod compare;
mod hex;
mod pcap;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use case::{Case, Step};
pub use hex::{Capture, Packet};

/// Runs golden directories with one program.
#[derive(Debug)]
pub struct Golden<'a> {
    /// The program.
    pub program: &'a Path,
    /// The directory in which each golden directory is copied and the program runs.
    pub scratch: &'a Path,
    /// Whether expected results are written rather than compared.
    pub bless: bool,
}

impl<'a> Golden<'a> {
    /// Compares, unless `INBAND_BLESS=1` is set in the environment.
    #[must_use]
    pub fn new(program: &'a Path, scratch: &'a Path) -> Self {
        let bless = std::env::var("INBAND_BLESS").is_ok_and(|value| value == "1");
        Self { program, scratch, bless }
    }

    /// Runs every directory below `root`; returns their number, and the failures.
    ///
    /// # Errors
    /// `root` cannot be read.
    pub fn run_all(&self, root: &Path) -> io::Result<(usize, Vec<String>)> {
        let entries = fs::read_dir(root)?.collect::<io::Result<Vec<_>>>()?;
        let mut directories: Vec<_> =
            entries.iter().map(fs::DirEntry::path).filter(|path| path.is_dir()).collect();
        directories.sort();
        let failures = directories
            .iter()
            .filter_map(|directory| {
                let name = directory.file_name()?.to_string_lossy().into_owned();
                self.run(directory).err().map(|failure| format!("golden {name}: {failure}"))
            })
            .collect();
        Ok((directories.len(), failures))
    }

    /// Runs the steps of one directory.
    ///
    /// # Errors
    /// The first mismatch, as a message.
    pub fn run(&self, directory: &Path) -> Result<(), String> {
        let case = Case::read(directory)?;
        let folder = self.prepare(directory, &case)?;
        for (number, step) in (1..).zip(&case.steps) {
            self.step(directory, &folder, step)
                .map_err(|failure| format!("step {number}, inband {}: {failure}", step.run.join(" ")))?;
        }
        Ok(())
    }

    /// Copies the inputs to a separate folder, packets as captures.
    fn prepare(&self, directory: &Path, case: &Case) -> Result<PathBuf, String> {
        let name = directory.file_name().ok_or("the directory has no name")?;
        let folder = self.scratch.join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| at(&folder, &error))?;
        for input in case.inputs(directory)? {
            let name = input.file_name().ok_or("an input has no name")?;
            let bytes = fs::read(&input).map_err(|error| at(&input, &error))?;
            fs::write(folder.join(name), &bytes).map_err(|error| at(&folder, &error))?;
            if input.extension().is_some_and(|extension| extension == "hex") {
                let capture =
                    Capture::parse(&String::from_utf8_lossy(&bytes)).map_err(|error| at(&input, &error))?;
                let path = folder.join(name).with_extension("pcap");
                fs::write(&path, pcap::write(&capture)).map_err(|error| at(&path, &error))?;
            }
        }
        Ok(folder)
    }

    fn step(&self, directory: &Path, folder: &Path, step: &Step) -> Result<(), String> {
        let output = Command::new(self.program)
            .args(&step.run)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| at(self.program, &error))?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        if output.status.code() != Some(step.exit) {
            return Err(format!("exit code {:?}, expected {}\n{stderr}", output.status.code(), step.exit));
        }
        if step.exit != 0 && step.message.is_none() {
            return Err(format!("fails as expected, but the case names no message; it says\n{stderr}"));
        }
        if let Some(message) = step.message.as_deref().filter(|message| !stderr.contains(message)) {
            return Err(format!("does not say `{message}` but\n{stderr}"));
        }
        self.check_stdout(directory, step, &String::from_utf8_lossy(&output.stdout))?;
        step.writes.iter().try_for_each(|name| self.check_capture(directory, folder, name))
    }

    fn check_stdout(&self, directory: &Path, step: &Step, stdout: &str) -> Result<(), String> {
        let Some(name) = &step.stdout else {
            return if stdout.is_empty() {
                Ok(())
            } else {
                Err(format!("prints, but the case names no file for it:\n{stdout}"))
            };
        };
        let path = directory.join(name);
        if self.bless {
            return fs::write(&path, stdout).map_err(|error| at(&path, &error));
        }
        let expected = fs::read_to_string(&path).map_err(|error| at(&path, &error))?;
        compare::text(name, &expected, stdout)
    }

    fn check_capture(&self, directory: &Path, folder: &Path, name: &str) -> Result<(), String> {
        let written = folder.join(name);
        let bytes = fs::read(&written).map_err(|error| at(&written, &error))?;
        let actual = pcap::read(&bytes).map_err(|error| at(&written, &error))?;
        let path = directory.join(name).with_extension("hex");
        if self.bless {
            return fs::write(&path, actual.to_string()).map_err(|error| at(&path, &error));
        }
        let expected = fs::read_to_string(&path).map_err(|error| at(&path, &error))?;
        let expected = Capture::parse(&expected).map_err(|error| at(&path, &error))?;
        compare::captures(name, &expected, &actual)
    }
}

fn at(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}
