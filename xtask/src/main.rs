//! The checks and measurements of the workspace, by name.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

mod bench;
mod benchmarks;
mod bpf;
mod cargo;
mod ci;
mod golden;
mod instructions;
mod layers;
mod long;
mod page;
mod problem;
mod source;
mod spec;

/// Checks and measurements of this workspace.
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", after_help = "Example: cargo xtask ci")]
enum Task {
    /// Run every check, the tests last
    Ci(ci::Arguments),
    /// Check the boundaries between the crates, import cycles inside them, and that engines do no I/O
    Layers,
    /// Check the requirement citations, and write spec/coverage.md
    Spec(spec::Arguments),
    /// Compare the program's output with the golden directories
    Golden(golden::Arguments),
    /// Compile the programs for the kernel, or check that they are compiled
    Bpf(bpf::Arguments),
    /// Build the web page, or check that it is built
    Page(page::Arguments),
    /// Measure the packet path and the report path, in release mode
    Bench(bench::Arguments),
    /// Count instructions per packet and per report under callgrind, and compare them with another commit's
    Instructions(instructions::Arguments),
    /// Run one of the checks that take too long for every push
    Long(long::Arguments),
}

fn main() -> ExitCode {
    let root = workspace_root();
    let outcome = match Task::parse() {
        Task::Ci(arguments) => ci::run(&root, &arguments),
        Task::Layers => layers::run(&root),
        Task::Spec(arguments) => spec::run(&root, &arguments),
        Task::Golden(arguments) => golden::run(&root, &arguments),
        Task::Bpf(arguments) => bpf::run(&root, &arguments),
        Task::Page(arguments) => page::run(&root, &arguments),
        Task::Bench(arguments) => bench::run(&root, &arguments),
        Task::Instructions(arguments) => instructions::run(&root, &arguments),
        Task::Long(arguments) => long::run(&root, &arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The directory that holds the workspace's `Cargo.toml`.
fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace").to_path_buf()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Task;

    #[test]
    fn every_task_has_arguments_that_can_be_parsed() {
        Task::command().debug_assert();
    }
}
