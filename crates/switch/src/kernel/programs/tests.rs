use std::sync::atomic::{AtomicBool, Ordering};

use aya::programs::{SchedClassifier, TestRun, TestRunOptions};
use inband_linux::device::Device;
use inband_node::NodeConfig;

use super::{LEAVE, Programs};
use crate::kernel::abi::{Engine, PortSettings, Settings};

const CONFIG: &str = "\
[node]
id = 7
[[interface]]
id = 1
device = \"left\"
mtu = 2000
[[interface]]
id = 2
device = \"right\"
mtu = 2000
";
/// The loopback device, in place of the egress, and an index of no device, in place of the ingress.
const EGRESS: u32 = 1;
const INGRESS: u32 = 7_777;
/// Enough to meet a change many times.
const RUNS: usize = 100_000;
/// Offsets in `struct __sk_buff`, which ends with the time of the hardware.
const INGRESS_AT: usize = 36;
const EGRESS_AT: usize = 40;
const CONTEXT_BYTES: usize = 192;
/// The first hop's interfaces, behind Ethernet, IPv4, UDP, shim, header and node id.
const INTERFACES_AT: usize = 14 + 20 + 8 + 4 + 12 + 4;

/// A datagram with INT-MD that asks for node id and interfaces, and has no hop yet.
fn frame() -> Vec<u8> {
    let ethernet = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let ip = [0x45, 0x5c, 0, 144, 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 1, 0, 1, 10, 2, 0, 2];
    let udp = [4, 1, 0, 80, 0, 124, 0, 0];
    let int = [0x10, 3, 0, 0, 0x20, 0, 2, 4, 0xc0, 0, 0, 0, 0, 0, 0, 0];
    [&ethernet[..], &ip, &udp, &int, &[7; 100]].concat()
}

#[test]
fn a_program_at_work_never_reads_the_settings_of_another_interface() {
    let mut programs = match Programs::load() {
        Ok(programs) => programs,
        Err(error) => return eprintln!("skipped: {}", error.words()),
    };
    let config: NodeConfig = toml::from_str(CONFIG).unwrap();
    programs.configure(&Settings::new(&config, Engine { device: 0, mark: 0 }, 0)).unwrap();
    let device = |index| Device { index, mtu: 2_000, ..Device::default() };
    let ports = [(INGRESS, 0), (EGRESS, 1)].map(|(index, number)| {
        let interface = &config.interfaces[usize::try_from(number).unwrap()];
        (index, PortSettings::new(interface, &device(index), number))
    });
    ports.iter().for_each(|(index, settings)| programs.set_port(*index, settings).unwrap());
    let Programs { ebpf, ports: maps, .. } = &mut programs;
    let leave: &mut SchedClassifier = ebpf.program_mut(LEAVE).unwrap().try_into().unwrap();
    let mut context = [0; CONTEXT_BYTES];
    context[INGRESS_AT..INGRESS_AT + 4].copy_from_slice(&INGRESS.to_ne_bytes());
    context[EGRESS_AT..EGRESS_AT + 4].copy_from_slice(&EGRESS.to_ne_bytes());
    let (frame, stop) = (frame(), AtomicBool::new(false));

    let wrong = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                ports.iter().for_each(|(index, settings)| maps.set(*index, settings).unwrap());
            }
        });
        let wrong = (0..RUNS).filter(|_| {
            let mut out = [0; 512];
            let options = TestRunOptions {
                data_in: Some(&frame),
                data_out: Some(&mut out),
                ctx_in: Some(&context),
                ..TestRunOptions::default()
            };
            leave.test_run(options).unwrap();
            out[INTERFACES_AT..INTERFACES_AT + 4] != [0, 1, 0, 2]
        });
        let wrong = wrong.count();
        stop.store(true, Ordering::Relaxed);
        wrong
    });

    assert_eq!(wrong, 0, "of {RUNS}");
}
