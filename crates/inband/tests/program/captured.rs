//! Captures from other vendors' switches are decoded.
//!
//! Their licence keeps the captures out of this repository. They are read from the folder that
//! `INBAND_VECTORS` names, or from `shared/vectors` beside the repository, and skipped if they are missing.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::folder::Folder;

/// BMv2 running laofan13/P4-INT, 2022.
const BMV2: &str = "laofan13_P4-INT";

fn captures() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let root = std::env::var_os("INBAND_VECTORS").map_or(beside, PathBuf::from);
    let folder = root.join(BMV2);
    if !folder.is_dir() {
        eprintln!("SKIPPED: {} is not here", folder.display());
        return None;
    }
    Some(folder)
}

fn lines(arguments: &str, capture: &Path) -> Vec<Value> {
    let name = capture.file_name().unwrap().to_str().unwrap();
    let folder = Folder::new(name).with("capture", fs::read(capture).unwrap());
    let outcome = folder.run(&format!("decode --json {arguments} capture"));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn int_mx_of_bmv2_is_read_and_its_stale_checksum_called_bad() {
    let Some(captures) = captures() else { return };
    for name in ["s1-eth2_out", "s2-eth1_in", "s2-eth2_out", "s3-eth3_in"] {
        let lines = lines("", &captures.join(name).with_extension("pcap"));
        let [line] = lines.as_slice() else { panic!("{name} holds one INT packet") };
        assert_eq!((&line["kind"], &line["encapsulation"]), (&json!("int"), &json!("dscp")), "{name}");
        assert_eq!(line["checksum"], "bad", "{name}");
        assert_eq!(line["int"][0]["type"], "mx", "{name}");
        assert_eq!(line["int"][0]["instruction_bitmap"], 0xff00, "{name}");
    }
    for name in ["s1-eth1_in", "s3-eth2_out"] {
        assert!(lines("", &captures.join(name).with_extension("pcap")).is_empty(), "{name} is outside");
    }
}

#[test]
fn reports_of_bmv2_are_malformed_to_the_letter_and_readable_leniently() {
    let Some(captures) = captures() else { return };
    for node in 1..=3 {
        let capture = captures.join(format!("s{node}-cpu-eth0_out.pcap"));
        let strict = &lines("--report-port 1234", &capture)[0];
        assert_eq!(strict["kind"], "malformed");
        assert_eq!(strict["error"], "report header at byte 42: Length is 0, the other fields imply 4");

        let lenient = &lines("--report-port 1234 --lenient", &capture)[0];
        assert_eq!((&lenient["kind"], &lenient["node_id"]), (&json!("report"), &json!(node)));
        assert_eq!(lenient["lenient"].as_array().unwrap().len(), 4, "{lenient}");
        let report = &lenient["reports"][0];
        assert_eq!(report["flow"]["destination"], "10.0.3.3");
        assert_eq!(report["int"][0]["hops"][0]["node_id"], node);
    }
}
