//! What an agent counts, as it says at its end and in its status.

use std::time::Duration;

use serde_json::Value;

use crate::world::{Place, World};

/// The packets with an outcome.
pub(crate) fn count(tally: &Value, outcome: &str) -> u64 {
    tally["outcomes"][outcome].as_u64().unwrap()
}

/// The output of `inband host status` beside a running agent, at most one second old.
pub(crate) fn status(world: &World, place: Place) -> Value {
    let mut command = world.command(place, env!("CARGO_BIN_EXE_inband"));
    let output = command.args(["host", "status", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The same, with everything that has happened so far.
pub(crate) fn status_of_now(world: &World, place: Place) -> Value {
    std::thread::sleep(Duration::from_millis(1_200));
    status(world, place)
}
