//! The `inband` program: dispatches to the subcommands.

mod canvas;
mod collect;
mod collector_url;
mod convert;
mod decode;
mod demo;
mod doctor;
mod failure;
mod host;
mod input;
mod lab;
mod node;
mod node_config;
mod note;
mod number;
mod out;
mod query;
mod signals;
mod stdout;
mod switch;
mod top;
mod trace;
mod unread;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use failure::Failure;

/// In-band Network Telemetry (INT) 2.1 in one program.
#[derive(Debug, Parser)]
#[command(name = "inband", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Args),
    Decode(decode::Args),
    Doctor(doctor::Args),
    Node(node::Args),
    Switch(switch::Args),
    Host(host::Args),
    Lab(lab::Args),
    Collect(collect::Args),
    Convert(convert::Args),
    Query(query::Args),
    Top(top::Args),
    Trace(trace::Args),
}

const EXIT_CODES: &str = "\
Exit codes: 0 success, 1 the work failed, 2 usage or configuration error, 3 answered without
what is damaged.
Results go to stdout, messages to stderr.";

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Demo(args) => demo::run(&args),
        Command::Decode(args) => decode::run(&args),
        Command::Doctor(args) => {
            return doctor::run(&args, &commands()).unwrap_or_else(Failure::report);
        }
        Command::Node(args) => node::run(&args),
        Command::Switch(args) => switch::run(&args),
        Command::Host(args) => host::run(&args),
        Command::Lab(args) => lab::run(&args),
        Command::Collect(args) => collect::run(&args),
        Command::Top(args) => top::run(&args),
        Command::Query(args) => query::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Convert(args) => convert::run(&args),
    };
    result.map_or_else(Failure::report, |()| ExitCode::SUCCESS)
}

/// The names of all subcommands except those about the program itself.
fn commands() -> Vec<String> {
    let names =
        Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect::<Vec<_>>();
    names.into_iter().filter(|name| name != "doctor" && name != "help").collect()
}
