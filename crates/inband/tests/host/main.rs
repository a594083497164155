//! INT on this host's own traffic between real network stacks. Needs root, `ip` and BPF; without them the
//! tests print a note.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "these are tests")]

mod agent;
mod capture;
mod changes;
mod containers;
mod cost;
mod drops;
mod filters;
mod first;
mod foreign;
mod forms;
mod image;
mod interrupted;
mod kills;
mod leases;
mod limits;
mod load;
mod matrix;
mod measure;
mod merged;
mod package;
mod path_mtu;
mod pins;
mod pods;
mod probe;
mod proof;
mod quic;
mod reporting;
mod shim;
mod single;
mod slices;
mod surroundings;
mod tally;
mod traffic;
mod transit;
mod truth;
mod world;
