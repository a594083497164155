use std::io;

use super::{Features, judge, look};
use crate::doctor::finding::{Finding, Status};
use crate::doctor::kernel::tests::Root;

fn eth0(mtu: &str, state: &str) -> Root {
    let files = [("operstate", state), ("mtu", mtu), ("speed", "10000\n")];
    let files = files.map(|(file, text)| (format!("sys/class/net/eth0/{file}"), text));
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    Root::new(&[files, vec![("sys/class/net/lo/mtu", "65536\n")]].concat())
}

fn features(on: &[&str]) -> io::Result<Features> {
    let known = ["tx-tcp-segmentation", "rx-gro", "rx-lro", "rx-gro-hw"];
    Ok(known.iter().map(|name| ((*name).to_owned(), on.contains(name))).collect())
}

fn of(root: &Root, features: io::Result<Features>) -> Finding {
    judge(&root.system(), "eth0", features, true)
}

#[test]
fn a_device_that_merges_packets_is_told_how_to_stop() {
    let root = eth0("1500\n", "up\n");
    let plain = of(&root, features(&["rx-gro"]));
    assert_eq!(
        (plain.status, plain.found.as_str()),
        (Status::Ok, "up, mtu 1500, 10000 Mb/s, on: gro, off: tso lro rx-gro-hw")
    );

    let merging = of(&root, features(&["rx-lro", "rx-gro-hw"]));
    assert_eq!(merging.status, Status::Degraded);
    assert_eq!(merging.fix, ["sudo ethtool -K eth0 lro off", "sudo ethtool -K eth0 rx-gro-hw off"]);
}

#[test]
fn a_device_needs_room_and_has_to_be_up() {
    let status = |mtu, state| of(&eth0(mtu, state), features(&[])).status;
    assert_eq!(status("1400\n", "up\n"), Status::Ok);
    assert_eq!(status("1399\n", "up\n"), Status::Degraded);
    assert_eq!(status("1500\n", "down\n"), Status::Missing);
    let not_asked = judge(&eth0("1500", "down").system(), "eth0", features(&[]), false);
    assert_eq!(not_asked.status, Status::Ok);
}

#[test]
fn features_that_cannot_be_read_are_not_told() {
    let finding = of(&eth0("1500\n", "up\n"), Err(io::ErrorKind::Unsupported.into()));
    assert_eq!((finding.status, finding.found.as_str()), (Status::Ok, "up, mtu 1500, 10000 Mb/s"));
}

#[test]
fn all_are_looked_at_but_the_loopback_or_the_one_that_is_asked_for() {
    let root = eth0("1500", "up");
    let names = |asked| {
        let findings = look(&root.system(), asked);
        findings.map(|findings| findings.into_iter().map(|finding| finding.name).collect::<Vec<_>>())
    };
    assert_eq!(names(None).unwrap(), ["eth0"]);
    assert_eq!(names(Some("lo")).unwrap(), ["lo"]);
    assert_eq!(names(Some("eth1")).unwrap_err(), "there is no interface `eth1`, only eth0, lo");
}
