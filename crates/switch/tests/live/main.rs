//! Switches between the network stacks of hosts in namespaces. Needs root and BPF; skipped otherwise.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod beside;
mod bridge;
mod bytes;
mod counters;
mod daemons;
mod down;
mod drops;
mod ending;
mod exclusion;
mod fast_path;
mod kernel;
mod narrow_edges;
mod queues;
mod rings;
mod router;
mod speed;
mod times;
mod world;
