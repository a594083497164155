//! The cost of INT compared with none: throughput with and without super-packets, latency, and the programs'
//! time. Prints it:
//! `cargo xtask long host-cost`

use std::fs;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::measure::{STATISTICS, nanoseconds, transfer, transfer_in_intervals};
use crate::tally::counter;
use crate::traffic::connect;
use crate::world::{B4, Offloads, Place, World};

/// What runs during a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Without,
    Slices,
    /// With the default room, for six hops.
    All,
    /// With room for the path's own hops: the sender and two in between.
    AllOfPath,
}

/// The measurements of one form, one value per round.
#[derive(Debug, Default)]
struct Rounds {
    gigabits: Vec<f64>,
    p50_us: Vec<f64>,
    p99_us: Vec<f64>,
    /// Segments that arrived before an earlier one, and segments that were sent again.
    reordered: u64,
    resent: u64,
    /// Intervals of 10 ms that begin with bytes that are sent, the transfer's slices (packets and
    /// super-packets that got INT), and the packets on the wire with INT.
    intervals: u64,
    slices: u64,
    with_int: u64,
}

const FORMS: [Form; 4] = [Form::Without, Form::Slices, Form::All, Form::AllOfPath];
/// A slice begins with the first packet after its interval, so slightly less than 10 ms gives one in every 10
/// ms.
const INTERVAL_US: u32 = 9_500;
/// The default, with INT in every packet.
const DEFAULT_INTERVAL_US: u32 = 10_000;
const QUESTIONS: usize = 5_000;

#[test]
#[ignore = "measures: cargo xtask long host-cost"]
fn cost_of_int_beside_none() {
    let rounds = std::env::var("ROUNDS").map_or(10, |rounds| rounds.parse().unwrap());
    for (offloads, name) in [(Offloads::On, "super-packets"), (Offloads::Off, "segments (TSO, GSO, GRO off)")]
    {
        let Some(world) = World::new(offloads) else { return };
        let mut of_forms: [Rounds; 4] = Default::default();
        // Alternately, because the load of the machine varies.
        for _ in 0..rounds {
            for (form, rounds) in FORMS.into_iter().zip(&mut of_forms) {
                if measure(&world, form, rounds).is_none() {
                    return;
                }
            }
        }
        println!("{name}, medians of {rounds} rounds (least to most)");
        let plain = middle(&mut of_forms[0].gigabits.clone());
        for (form, rounds) in FORMS.into_iter().zip(&mut of_forms) {
            let share = middle(&mut rounds.gigabits.clone()) / plain * 100.0;
            println!(
                "  {form:?}: {} Gb/s, {share:.1} % of plain; p50 {} us, p99 {} us; {} reordered, {} \
                 sent again; {} slices with {} packets with INT in {} intervals of 10 ms",
                spread(&mut rounds.gigabits),
                spread(&mut rounds.p50_us),
                spread(&mut rounds.p99_us),
                rounds.reordered,
                rounds.resent,
                rounds.slices,
                rounds.with_int,
                rounds.intervals,
            );
        }
        // Everything is printed before it is judged. A machine that reorders without INT proves nothing about
        // INT.
        let without = of_forms[0].reordered;
        for (form, rounds) in FORMS.into_iter().zip(&of_forms) {
            assert!(rounds.reordered <= without, "{name}, {form:?}: {} reordered", rounds.reordered);
            let is_covered = form == Form::Without || rounds.slices >= rounds.intervals;
            assert!(is_covered, "{name}, {form:?}: one slice in each interval");
        }
    }
    programs();
}

/// Runs one round; `None`: it cannot be measured on this machine.
fn measure(world: &World, form: Form, rounds: &mut Rounds) -> Option<()> {
    let running = agents(world, form)?;
    let before = (reordered(world), resent(world));
    let (gigabits, intervals) = transfer_in_intervals(world);
    rounds.gigabits.push(gigabits);
    rounds.reordered += reordered(world) - before.0;
    rounds.resent += resent(world) - before.1;
    if let Some((a, b)) = running {
        let a = a.stop();
        let _ = b.stop();
        rounds.slices += a["outcomes"]["steered"].as_u64().unwrap();
        rounds.with_int += a["watched"]["int_packets"].as_u64().unwrap();
        rounds.intervals += intervals;
        assert_eq!(a["outcomes"]["segments"], 0, "{a}");
    }
    let running = agents(world, form)?;
    let mut times = ping(world);
    times.sort_unstable();
    for (values, rank) in
        [(&mut rounds.p50_us, times.len() / 2), (&mut rounds.p99_us, times.len() * 99 / 100)]
    {
        values.push(times[rank].as_secs_f64() * 1e6);
    }
    if let Some((a, b)) = running {
        let _: (Value, Value) = (a.stop(), b.stop());
    }
    Some(())
}

/// The agents of a form, if it has any; `None`: they cannot run on this machine.
fn agents(world: &World, form: Form) -> Option<Option<(Agent, Agent)>> {
    if form == Form::Without {
        return Some(None);
    }
    Some(Some((agent(world, Place::A, form)?, agent(world, Place::B, form)?)))
}

fn agent(world: &World, place: Place, form: Form) -> Option<Agent> {
    let (coverage, interval_us) = match form {
        Form::All | Form::AllOfPath => ("all", DEFAULT_INTERVAL_US),
        Form::Without | Form::Slices => ("slices", INTERVAL_US),
    };
    let host = if form == Form::AllOfPath { "room_hops = 3\n".to_owned() } else { String::new() };
    Agent::start(world, place, &Domain { interval_us, coverage, host, ..Domain::new("dscp", "md") })
}

/// The round-trip times of requests over TCP.
fn ping(world: &World) -> Vec<Duration> {
    let (mut to_b, mut at_b) = connect(world, B4);
    for end in [&to_b, &at_b] {
        end.set_nodelay(true).unwrap();
    }
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut question = [0; 14];
            while at_b.read_exact(&mut question).is_ok() {
                at_b.write_all(&question).unwrap();
            }
        });
        let mut answer = [0; 14];
        let mut ask = || {
            let since = Instant::now();
            to_b.write_all(b"fourteen bytes").unwrap();
            to_b.read_exact(&mut answer).unwrap();
            since.elapsed()
        };
        let times = (0..QUESTIONS).map(|_| ask()).collect();
        drop(to_b);
        times
    })
}

/// Segments that B has queued because an earlier one was missing.
fn reordered(world: &World) -> u64 {
    counter(world, Place::B, ("netstat", "TcpExt:", "TCPOFOQueue"))
}

/// Segments that A has sent again, as the kernel's TCP takes them for lost.
fn resent(world: &World) -> u64 {
    counter(world, Place::A, ("snmp", "Tcp:", "RetransSegs"))
}

/// Prints the programs' time per packet, from the kernel's statistics.
fn programs() {
    for form in [Form::Slices, Form::All] {
        let Some(world) = World::new(Offloads::Off) else { return };
        let (Some(a), Some(b)) = (agent(&world, Place::A, form), agent(&world, Place::B, form)) else {
            return;
        };
        fs::write(STATISTICS, "1").unwrap();
        transfer(&world);
        println!("{form:?}, A: {}\n{form:?}, B: {}", nanoseconds(&a), nanoseconds(&b));
        fs::write(STATISTICS, "0").unwrap();
    }
}

fn middle(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn spread(values: &mut [f64]) -> String {
    let middle = middle(values);
    format!("{middle:.2} ({:.2} to {:.2})", values[0], values[values.len() - 1])
}
