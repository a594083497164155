//! Tests of the program as its users run it.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its world is to fail")]

mod captured;
mod certificates;
mod cli;
mod collect;
mod collect_faults;
mod collector;
mod convert;
mod doctor;
mod folder;
mod labelled;
mod labels;
mod messages;
mod node;
mod pipes;
mod query;
mod replay;
mod slow_clients;
mod soak;
mod vectors;
