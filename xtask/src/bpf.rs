//! The compiled objects of the BPF programs, built from or compared with their sources.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

/// The compiler of the committed objects: another version produces different bytes from the same source.
const CLANG: &str = "clang-14";
const STRIP: &str = "llvm-strip-14";
/// Folders, and the objects in them: each has one source beside it.
const OBJECTS: [(&str, &str); 5] = [
    ("crates/host/src/bpf", "inband"),
    ("crates/host/src/bpf", "drops"),
    ("crates/switch/src/bpf", "switch"),
    ("crates/switch/src/bpf", "drops"),
    ("crates/switch/tests/bpf", "speed"),
];

/// What to do with the objects.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Only compare; report and succeed where the compiler is not installed
    #[arg(long)]
    pub(crate) check: bool,
}

/// Compiles the programs, and writes their objects or compares them with the committed ones.
///
/// # Errors
/// The compiler is missing (without `--check`) or rejects a source, or an object differs.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    let installed = Command::new(CLANG).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !installed && arguments.check {
        println!("skipped: {CLANG} is not installed");
        return Ok(());
    }
    ensure!(
        installed,
        "{CLANG} is not installed: apt-get install clang-14 llvm-14 libbpf-dev linux-libc-dev"
    );
    OBJECTS.iter().try_for_each(|(folder, name)| {
        let sources = root.join(folder);
        let built = std::env::temp_dir().join(format!("inband-{}-{name}.bpf.o", std::process::id()));
        let outcome =
            compile(&sources, name, &built).and_then(|()| settle(&sources, name, &built, arguments));
        // If it was not created, it cannot be removed either.
        let _ = fs::remove_file(&built);
        outcome
    })
}

fn compile(sources: &Path, name: &str, object: &Path) -> Result<()> {
    let mut clang = Command::new(CLANG);
    clang
        .current_dir(sources)
        .args(["-O2", "-g", "-Wall", "-Wextra", "-Werror", "-target", "bpf", "-mcpu=v3"]);
    // The same bytes in every folder, and the kernel's headers on a multiarch system.
    clang.args(["-fdebug-compilation-dir=.", "-I/usr/include/x86_64-linux-gnu"]);
    clang.arg("-c").arg(format!("{name}.bpf.c")).arg("-o").arg(object);
    succeed(&mut clang, CLANG)?;
    succeed(Command::new(STRIP).arg("-g").arg(object), STRIP)
}

fn succeed(command: &mut Command, name: &str) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {name}"))?;
    ensure!(status.success(), "{name}: {status}");
    Ok(())
}

fn settle(sources: &Path, name: &str, built: &Path, arguments: &Arguments) -> Result<()> {
    let committed = sources.join(format!("{name}.bpf.o"));
    let new = fs::read(built).with_context(|| format!("cannot read {}", built.display()))?;
    let old = fs::read(&committed).unwrap_or_default();
    if new == old {
        return Ok(());
    }
    if arguments.check {
        let committed = committed.display();
        bail!("{committed} is not what its sources make; run `cargo xtask bpf` and commit it");
    }
    fs::write(&committed, new).with_context(|| format!("cannot write {}", committed.display()))
}
