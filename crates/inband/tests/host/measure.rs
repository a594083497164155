//! What does INT cost on this machine? Prints it:
//! `cargo test --release -p inband --test host -- --ignored --nocapture --test-threads 1`

use std::fs;
use std::io::{Read, Write};
use std::time::Instant;

use crate::agent::{Agent, Domain};
use crate::traffic::connect;
use crate::world::{B4, Offloads, Place, World};

/// The MSS of links as they are, and less the room for six hops of seven words: shim, header and metadata.
const WHOLE: u32 = 1460;
const WITH_ROOM: u32 = WHOLE - 4 - 12 - 6 * 7 * 4;
/// Bytes of each transfer.
const TRANSFER_BYTES: usize = 1 << 30;
/// How often the agent hears of a flow at most, where settings do not say it.
const INTERVAL_US: u32 = 10_000;
/// The programs in the order they are loaded, which is that of their descriptors.
const PROGRAMS: [&str; 3] = ["steer", "source", "sink"];
const STATISTICS: &str = "/proc/sys/kernel/bpf_stats_enabled";

#[test]
#[ignore = "measures, and asserts no more than that all of bulk TCP has INT"]
fn cost_of_bulk_tcp() {
    // Segments as on a wire: nobody between the hosts carries super-packets.
    let Some(world) = World::new(Offloads::Off) else { return };
    println!("without INT: {:.2} Gb/s", transfer(&world));
    // What is left of the difference is not that segments are smaller by the room for INT.
    announce(&world, WITH_ROOM);
    println!("without INT, segments as small as with it: {:.2} Gb/s", transfer(&world));
    announce(&world, WHOLE);
    let domain = Domain { interval_us: INTERVAL_US, ..Domain::new("dscp", "md") };
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    println!("with INT:    {:.2} Gb/s", transfer(&world));
    fs::write(STATISTICS, "1").unwrap();
    println!("with INT and the kernel's statistics: {:.2} Gb/s", transfer(&world));
    println!("A (source): {}", nanoseconds(&a));
    println!("B (sink):   {}", nanoseconds(&b));
    fs::write(STATISTICS, "0").unwrap();

    let tally = a.stop();
    let (all, with_int) = (&tally["watched"]["bytes"], &tally["watched"]["int_bytes"]);
    println!("with INT: {with_int} of {all} watched bytes");
    assert_eq!(all, with_int);
    b.stop();
}

/// Makes B announce `mss` in new connections.
fn announce(world: &World, mss: u32) {
    world.ip(Place::B, &format!("route change default via 10.91.3.254 advmss {mss}"));
}

/// Sends bytes from A to B, and gives billions of bits a second.
fn transfer(world: &World) -> f64 {
    let (mut to_b, mut at_b) = connect(world, B4);
    let since = Instant::now();
    let received = std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut chunk = vec![0; 1 << 18];
            let mut received = 0;
            while received < TRANSFER_BYTES {
                received += at_b.read(&mut chunk).unwrap();
            }
            received
        });
        let chunk = vec![0x5a; 1 << 18];
        for _ in 0..TRANSFER_BYTES / chunk.len() {
            to_b.write_all(&chunk).unwrap();
        }
        reader.join().unwrap()
    });
    let bits = f64::from(u32::try_from(received).unwrap()) * 8.0;
    bits / since.elapsed().as_secs_f64() / 1e9
}

/// Mean time and number of runs of each program, by the kernel's statistics, which take some 25 ns themselves.
fn nanoseconds(agent: &Agent) -> String {
    let mut fds: Vec<u32> = fs::read_dir(format!("/proc/{}/fdinfo", agent.id()))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
        .collect();
    fds.sort_unstable();
    let runs = fds.iter().filter_map(|fd| {
        let text = fs::read_to_string(format!("/proc/{}/fdinfo/{fd}", agent.id())).ok()?;
        let field =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        // `BPF_PROG_TYPE_SCHED_CLS`; links name their program, too, but have no statistics.
        (field("prog_type:") == Some(3)).then_some((field("run_time_ns:")?, field("run_cnt:")?))
    });
    let means = runs.zip(PROGRAMS).map(|((time, count), program)| match count {
        0 => format!("{program} not run"),
        _ => format!("{program} {} ns ({count} runs)", time / count),
    });
    means.collect::<Vec<_>>().join(", ")
}
