//! A lock on a network namespace, held by one agent.

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use crate::error::HostError;

/// A name that one process of a network namespace can have; it is free again when that process ends.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "holding it is all")] UnixListener);

impl Lock {
    /// Takes the name for shims called `shim`.
    ///
    /// # Errors
    /// Another agent holds it.
    pub(crate) fn take(shim: &str) -> Result<Self, HostError> {
        let name = format!("inband-host/{shim}");
        let listener = SocketAddr::from_abstract_name(name).and_then(|name| UnixListener::bind_addr(&name));
        match listener {
            Ok(listener) => Ok(Self(listener)),
            Err(error) if error.kind() == ErrorKind::AddrInUse => Err(HostError::Unsupported {
                key: "host.shim",
                value: format!("\"{shim}\""),
                instead: "another name: an agent that runs here has this one",
            }),
            Err(reason) => Err(HostError::system("find out whether another agent runs here", reason)),
        }
    }
}
