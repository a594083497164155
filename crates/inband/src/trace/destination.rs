//! The destination of a trace: its name, and whether probes can have it.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, ToSocketAddrs};

use anyhow::Error;

use crate::failure::Failure;

/// The address of a destination, of the family of `source`.
pub(super) fn resolve(name: &str, source: Option<IpAddr>) -> Result<IpAddr, Failure> {
    let fits = |address: &IpAddr| source.is_none_or(|source| source.is_ipv4() == address.is_ipv4());
    let found = addresses(name)?.into_iter().find(fits);
    found.ok_or_else(|| Failure::usage(format!("`{name}` has no address of that family")))
}

/// The addresses of a destination's address or name.
pub(super) fn addresses(name: &str) -> Result<Vec<IpAddr>, Failure> {
    let found = (name, 0).to_socket_addrs().map_err(|error| unresolved(name, error))?;
    Ok(found.map(|address| address.ip()).collect())
}

/// A name that does not exist is a mistake; that the resolver fails is not.
pub(super) fn unresolved(name: &str, error: io::Error) -> Failure {
    let text = error.to_string();
    let is_mistake =
        error.kind() == ErrorKind::InvalidInput || NO_SUCH_NAME.iter().any(|it| text.contains(it));
    let error = Error::new(error).context(format!("`{name}`"));
    if is_mistake { Failure::Usage(error) } else { Failure::Work(error) }
}

/// The failure to connect a socket to a destination. Linux permits no connection to a broadcast address.
pub(super) fn unreachable(destination: IpAddr, error: io::Error) -> Failure {
    if error.kind() == ErrorKind::PermissionDenied {
        return several(destination);
    }
    Failure::Work(Error::new(error).context(format!("no route leads to {destination}")))
}

/// Checks that probes from `source` leave this machine, for one other.
pub(super) fn check(destination: IpAddr, source: IpAddr) -> Result<(), Failure> {
    match destination {
        _ if destination == source || destination.is_loopback() => Err(Failure::usage(format!(
            "{destination} is an address of this machine, so probes to it pass no hop"
        ))),
        _ if destination.is_multicast() => Err(several(destination)),
        _ => Ok(()),
    }
}

fn several(destination: IpAddr) -> Failure {
    Failure::usage(format!("{destination} is the address of several hosts, and a probe has one destination"))
}

/// The answers of glibc and musl that there is no such name, or no address of it.
const NO_SUCH_NAME: [&str; 4] = [
    "Name or service not known",
    "No address associated with hostname",
    "Name does not resolve",
    "Name has no usable address",
];
