//! What an agent counts, as it says at its end and in its status.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::traffic::PATIENCE;
use crate::world::{Place, World};

/// The packets with an outcome.
pub(crate) fn count(tally: &Value, outcome: &str) -> u64 {
    tally["outcomes"][outcome].as_u64().unwrap()
}

/// The output of `inband host status` beside a running agent, at most one second old; on a busy machine it is
/// older.
pub(crate) fn status(world: &World, place: Place) -> Value {
    let mut command = world.command(place, env!("CARGO_BIN_EXE_inband"));
    let output = command.args(["host", "status", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Waits until the status of an agent is as `is_so` says, and returns it.
#[track_caller]
pub(crate) fn await_status(world: &World, place: Place, is_so: impl Fn(&Value) -> bool) -> Value {
    talk_until(world, place, is_so, || std::thread::sleep(Duration::from_millis(50)))
}

/// Goes on with `talk` until the status of an agent is as `is_so` says, and returns it: how much is sent in a
/// while, and how soon agents answer each other, depends on the load of the machine.
#[track_caller]
pub(crate) fn talk_until(
    world: &World,
    place: Place,
    is_so: impl Fn(&Value) -> bool,
    mut talk: impl FnMut(),
) -> Value {
    let since = Instant::now();
    loop {
        talk();
        let status = status(world, place);
        if is_so(&status) {
            return status;
        }
        assert!(since.elapsed() < PATIENCE, "{status}");
    }
}

/// Whether an outcome has more than `least` packets.
pub(crate) fn has_more(outcome: &str, least: u64) -> impl Fn(&Value) -> bool {
    move |tally| count(tally, outcome) > least
}

/// Whether a flow is in this state.
pub(crate) fn has_flow(state: &str) -> impl Fn(&Value) -> bool {
    move |status| status["states"][state].as_u64().unwrap() > 0
}

/// A counter of the kernel's TCP in a namespace, from a line of names and one of values.
pub(crate) fn counter(world: &World, place: Place, (file, line, counter): (&str, &str, &str)) -> u64 {
    let path = format!("/proc/thread-self/net/{file}");
    let text = world.inside(place, || std::fs::read_to_string(path).unwrap());
    let mut lines = text.lines().filter(|text| text.starts_with(line));
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let mut pairs = names.split(' ').zip(values.split(' '));
    pairs.find(|(name, _)| *name == counter).map_or(0, |(_, value)| value.parse().unwrap())
}
