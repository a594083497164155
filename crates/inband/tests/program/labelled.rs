//! Every hand-built packet, of any version, decodes as its builder labelled it.
//!
//! The packets are in `testdata/packets`. If the folder that `INBAND_VECTORS` names, or `shared/vectors`
//! beside the repository, has a `vectors.json`, it must be the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use inband_testkit::hex;
use serde_json::Value;

use crate::folder::Folder;
use crate::labels::{Segment, check};

/// A packet and its parts.
struct Vector {
    is_valid: bool,
    segments: Vec<Segment>,
}

impl Vector {
    /// Reads `# byte N: label` lines, each followed by the bytes it is about.
    fn parse(name: &str, text: &str) -> Self {
        let segments = text.split("# byte ").skip(1).map(|part| {
            let (head, bytes) = part.split_once('\n').unwrap();
            Segment { label: head.split_once(": ").unwrap().1.to_owned(), bytes: hex(bytes) }
        });
        Self { is_valid: !name.contains("-neg-"), segments: segments.collect() }
    }

    fn of_json(vector: &Value) -> Self {
        let segments = vector["segments"].as_array().unwrap().iter().map(|segment| Segment {
            label: segment[2].as_str().unwrap().to_owned(),
            bytes: hex(segment[3].as_str().unwrap()),
        });
        Self { is_valid: vector["valid"].as_bool().unwrap(), segments: segments.collect() }
    }

    fn bytes(&self) -> Vec<u8> {
        self.segments.iter().flat_map(|segment| segment.bytes.iter().copied()).collect()
    }
}

/// The labelled packets of the repository, by their names.
fn vectors() -> BTreeMap<String, Vector> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/packets");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let labelled = files.filter_map(|path| {
        let name = path.file_stem()?.to_str()?.to_owned();
        let text = fs::read_to_string(path).ok()?;
        text.contains("# byte ").then(|| (name.clone(), Vector::parse(&name, &text)))
    });
    labelled.collect()
}

/// Decodes each of the packets, all in one capture.
fn decode<'a>(packets: impl Iterator<Item = &'a Vector>) -> Vec<Value> {
    let mut capture = Vec::new();
    for field in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1_u32] {
        capture.extend(field.to_le_bytes());
    }
    for packet in packets {
        let bytes = packet.bytes();
        let length = u32::try_from(bytes.len()).unwrap();
        for field in [0, 0, length, length] {
            capture.extend(field.to_le_bytes());
        }
        capture.extend(bytes);
    }
    let folder = Folder::new("labelled").with("capture", capture);
    // One of the switches sends its reports to port 5900.
    let outcome = folder.run("decode --json --report-port 32766 --report-port 5900 capture");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_value_is_what_its_label_says() {
    let vectors = vectors();
    assert!(vectors.len() >= 38, "{} vectors", vectors.len());
    let lines = decode(vectors.values());
    assert_eq!(lines.len(), vectors.len());
    for ((name, vector), line) in vectors.iter().zip(&lines) {
        println!("{name}: {line}");
        if vector.is_valid {
            assert_ne!(line["kind"], "malformed");
            check(line, &vector.segments);
        } else {
            assert_eq!(line["kind"], "malformed");
            assert!(line["error"].as_str().unwrap().contains("at byte "));
        }
    }
}

#[test]
fn a_changed_value_is_noticed() {
    let vectors = vectors();
    let vector = &vectors["int-0.5-tcp-dscp17-hbh"];
    let mut line = decode([vector].into_iter()).remove(0);
    line["int"][0]["hops"][1]["queue_occupancy"] = 1.into();
    assert!(std::panic::catch_unwind(|| check(&line, &vector.segments)).is_err());
}

#[test]
fn the_vectors_beside_the_repository_are_these() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let path = std::env::var_os("INBAND_VECTORS").map_or(beside, PathBuf::from).join("vectors.json");
    let Ok(text) = fs::read_to_string(&path) else {
        eprintln!("SKIPPED: {} is not here", path.display());
        return;
    };
    let theirs: Vec<Value> = serde_json::from_str(&text).unwrap();
    let ours: Vec<_> = vectors().values().map(Vector::bytes).collect();
    for vector in &theirs {
        let theirs = Vector::of_json(vector);
        assert!(ours.contains(&theirs.bytes()), "{} is missing", vector["name"]);
        let line = decode([&theirs].into_iter()).remove(0);
        assert_eq!(line["kind"] != "malformed", theirs.is_valid, "{line}");
        if theirs.is_valid {
            check(&line, &theirs.segments);
        }
    }
}
