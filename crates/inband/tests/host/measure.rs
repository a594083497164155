//! The cost of INT on this machine. Prints it:
//! `cargo test -p inband --test host -- --ignored --nocapture --test-threads 1`

use std::fs;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::agent::{Agent, Domain};
use crate::traffic::connect;
use crate::world::{B4, Offloads, Place, World};

/// The MSS of unchanged links, and with room for six hops of seven words: shim, header and metadata.
const WHOLE: u32 = 1460;
const WITH_ROOM: u32 = WHOLE - 4 - 12 - 6 * 7 * 4;
/// Bytes of each transfer.
const TRANSFER_BYTES: usize = 1 << 30;
/// How often each case is measured.
const ROUNDS: usize = 5;
/// Default of the least interval between two events of a flow, microseconds.
const INTERVAL_US: u32 = 10_000;
const INTERVAL: Duration = Duration::from_millis(10);
/// The programs in the order they are loaded, which is that of their descriptors.
const PROGRAMS: [&str; 3] = ["steer", "source", "sink"];
pub(crate) const STATISTICS: &str = "/proc/sys/kernel/bpf_stats_enabled";

#[test]
#[ignore = "measures, and asserts no more than that bulk TCP has INT"]
fn cost_of_bulk_tcp() {
    // Segments as on a wire: nothing between the hosts carries super-packets.
    let Some(world) = World::new(Offloads::Off) else { return };
    // Alternately, because the load of the machine varies.
    let mut rates: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        let Some(with_int) = round_with_int(&world) else { return };
        let [whole, small] = [WHOLE, WITH_ROOM].map(|mss| {
            announce(&world, mss);
            transfer(&world)
        });
        announce(&world, WHOLE);
        for (rates, rate) in rates.iter_mut().zip([whole, small, with_int]) {
            rates.push(rate);
        }
    }
    println!("without INT: {}", middle(&mut rates[0]));
    // What remains of the difference is not due to smaller segments.
    println!("without INT, segments as small as with it: {}", middle(&mut rates[1]));
    println!("with INT:    {}", middle(&mut rates[2]));
    cost_of_programs(&world);
}

/// Prints the programs' time per packet, from the kernel's statistics.
fn cost_of_programs(world: &World) {
    let Some((a, b)) = agents(world) else { return };
    fs::write(STATISTICS, "1").unwrap();
    println!("with INT and the kernel's statistics: {:.2} Gb/s", transfer(world));
    println!("A (source): {}", nanoseconds(&a));
    println!("B (sink):   {}", nanoseconds(&b));
    fs::write(STATISTICS, "0").unwrap();
    end(a, b);
}

/// The rate of a transfer with INT; `None`: it cannot be measured on this machine.
fn round_with_int(world: &World) -> Option<f64> {
    let (a, b) = agents(world)?;
    let rate = transfer(world);
    end(a, b);
    Some(rate)
}

fn agents(world: &World) -> Option<(Agent, Agent)> {
    let domain = Domain { interval_us: INTERVAL_US, ..Domain::new("dscp", "md") };
    Some((Agent::start(world, Place::A, &domain)?, Agent::start(world, Place::B, &domain)?))
}

/// Stops the agents; panics unless all watched packets had INT, except one in a hundred thousand.
fn end(a: Agent, b: Agent) {
    let tally = a.stop();
    let [all, with_int] = ["packets", "int_packets"].map(|count| tally["watched"][count].as_u64().unwrap());
    if with_int < all {
        println!("with INT: {with_int} of {all} watched packets: {}", tally["outcomes"]);
    }
    assert!(all - with_int <= all / 100_000, "{tally}");
    b.stop();
}

/// The median of the rates, with the lowest and the highest.
fn middle(rates: &mut [f64]) -> String {
    rates.sort_by(f64::total_cmp);
    let [first, last] = [rates[0], rates[rates.len() - 1]];
    format!("{:.2} Gb/s ({first:.2} to {last:.2})", rates[rates.len() / 2])
}

/// Makes B announce `mss` in new connections.
fn announce(world: &World, mss: u32) {
    world.ip(Place::B, &format!("route change default via 10.91.3.254 advmss {mss}"));
}

/// Sends bytes from A to B, and returns the rate in billions of bits per second.
pub(crate) fn transfer(world: &World) -> f64 {
    transfer_in_intervals(world).0
}

/// Like [`transfer`], and returns the number of intervals of 10 ms that each begin with bytes that are sent:
/// a sender that waits for a processor is not active meanwhile.
pub(crate) fn transfer_in_intervals(world: &World) -> (f64, u64) {
    let (mut to_b, mut at_b) = connect(world, B4);
    let since = Instant::now();
    let (mut began, mut intervals) = (None, 0);
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
            if began.is_none_or(|began: Instant| began.elapsed() >= INTERVAL) {
                began = Some(Instant::now());
                intervals += 1;
            }
            to_b.write_all(&chunk).unwrap();
        }
        reader.join().unwrap()
    });
    let bits = f64::from(u32::try_from(received).unwrap()) * 8.0;
    (bits / since.elapsed().as_secs_f64() / 1e9, intervals)
}

/// Mean time and number of runs of each program, from the kernel's statistics, which add some 25 ns
/// themselves.
pub(crate) fn nanoseconds(agent: &Agent) -> String {
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
