//! Signals to an agent that starts.

use std::io::{BufReader, Read};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::agent::{Domain, next_message};
use crate::world::{Offloads, Place, World};

#[test]
fn an_agent_that_is_stopped_and_goes_on_while_it_starts_has_its_programs() {
    let Some(world) = World::new(Offloads::On) else { return };
    let settings = Domain::new("dscp", "md").settings(Place::A);
    let settings = world.write("A.toml", settings.as_bytes());
    let mut command = world.command(Place::A, env!("CARGO_BIN_EXE_inband"));
    let mut agent = command
        .args(["host", "-c"])
        .arg(settings)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid = Pid::from_raw(i32::try_from(agent.id()).unwrap()).unwrap();

    // The kernel verifies a program for some 50 ms; fewer signals than attempts to load it.
    for _ in 0..4 {
        std::thread::sleep(Duration::from_millis(40));
        kill_process(pid, Signal::STOP).unwrap();
        std::thread::sleep(Duration::from_millis(10));
        kill_process(pid, Signal::CONT).unwrap();
    }

    let mut messages = BufReader::new(agent.stderr.take().unwrap());
    let said = next_message(&mut messages);
    // An agent that has ended is a zombie, and takes signals as well.
    kill_process(pid, Signal::INT).unwrap();
    let mut rest = String::new();
    messages.read_to_string(&mut rest).unwrap();
    let ended = agent.wait().unwrap();
    if said.contains("Operation not permitted") || said.contains("Function not implemented") {
        eprintln!("skipped: the kernel does not let this user load BPF programs: {said}");
        return;
    }
    assert!(said.starts_with("INT on "), "{said}{rest}");
    assert!(ended.success(), "{rest}");
}
