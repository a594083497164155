use std::fs;

use crate::history::History;
use crate::question::{Cell, Limits};
use crate::sample::Folder;

#[test]
fn segments_of_version_1_are_read_with_their_timestamps() {
    let folder = Folder::new();
    let hour = folder.path().join("observations/date=2023-11-14/hour=22");
    fs::create_dir_all(&hour).unwrap();
    fs::create_dir_all(folder.path().join("log")).unwrap();
    let segment = include_bytes!("../../../testdata/version1.parquet");
    fs::write(hour.join("00000000000000000001.parquet"), segment).unwrap();

    let sql = "SELECT count(*), min(ingress_timestamp), max(egress_timestamp), \
               sum(egress_timestamp - ingress_timestamp), sum(hop_latency) FROM observations";
    let answer = History::open(folder.path()).unwrap().query(sql, Limits::default()).unwrap();

    // The values that another engine reads from the file.
    let expected = [250, 1_699_999_263_577_792_315, 1_699_999_750_776_870_679, 235_715, 235_654];
    assert_eq!(answer.rows, [expected.map(Cell::Integer)]);
    assert!(!answer.findings.is_damaged());
}
