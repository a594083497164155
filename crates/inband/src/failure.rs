//! The message and exit code of a failed subcommand.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use anyhow::Error;
use inband::config::ConfigError;

use crate::note::note;
use crate::stdout;

/// Why a subcommand failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line or the configuration is wrong: exit code 2.
    Usage(Error),
    /// The work could not be done, or not completely: exit code 1.
    Work(Error),
    /// The work was done with what remains of damaged files: exit code 3.
    Damaged(Error),
}

impl Failure {
    /// A mistake on the command line.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::Usage(Error::msg(message.to_string()))
    }

    /// Prints the message and returns its exit code.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Work(error) if is_stdout_closed(&error) => ExitCode::SUCCESS,
            Self::Work(error) => {
                note!("error: {error:#}");
                ExitCode::from(1)
            }
            Self::Usage(error) => {
                note!("error: {error:#}");
                ExitCode::from(2)
            }
            Self::Damaged(error) => {
                note!("error: {error:#}");
                ExitCode::from(3)
            }
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Work(error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Usage(error.into())
    }
}

/// Whether the reader of stdout has closed it, as `head` does; this is not a failure.
fn is_stdout_closed(error: &Error) -> bool {
    error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()).any(stdout::is_closed)
}
