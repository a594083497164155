//! `inband lab traffic`: packets with every byte checked, for labs on machines without other programs.

mod args;
mod pattern;
mod receive;
mod send;

use crate::failure::Failure;
use args::{ReceiveArgs, SendArgs};

/// Send or receive packets with every byte checked
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, clap::Subcommand)]
enum Task {
    /// Send to one or more receivers
    Send(SendArgs),
    /// Receive, and check every byte
    Receive(ReceiveArgs),
}

/// Sends or receives; the result is a JSON object on stdout.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    match &args.task {
        Task::Send(args) => send::run(args),
        Task::Receive(args) => receive::run(args),
    }
}
