//! Is every hand-built packet decoded to what its builder put in?

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::folder::Folder;

fn lines(vector: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/vectors").join(vector);
    let folder = Folder::new(vector).with("capture", fs::read(path).unwrap());
    let outcome = folder.run("decode --json capture");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn int_2_1_is_read_in_every_encapsulation() {
    // host-int-0.5/report-08
    let lines = lines("int_v2_1.pcap");
    let encapsulations: Vec<_> = lines[..4].iter().map(|line| &line["encapsulation"]).collect();
    assert_eq!(encapsulations, ["dscp", "udp", "gre", "vxlan-gpe"]);
    let checksums: Vec<_> = lines[..4].iter().map(|line| &line["checksum"]).collect();
    assert_eq!(checksums, ["ok", "absent", "absent", "absent"]);
    let remaining: Vec<_> = lines[..4].iter().map(|line| &line["int"][0]["remaining_hops"]).collect();
    assert_eq!(remaining, [6, 6, 6, 5]);
    for line in &lines[..3] {
        assert_eq!(
            line["int"][0]["hops"],
            json!([
                {"node_id": 0x2222_2222, "queue_id": 3, "queue_occupancy": 0x102},
                {"node_id": 0x1111_1111, "queue_id": 1, "queue_occupancy": 0x203},
            ])
        );
    }
    assert_eq!(
        lines[3]["int"][0]["hops"][0],
        json!({"node_id": 0x3333_3333, "queue_id": 2, "queue_occupancy": 170})
    );
    assert_eq!(lines[4]["error"], "INT shim at byte 42: Length 2 is less than 3");
}

#[test]
fn report_2_0_examples_are_read() {
    // report-2.0/group-01, report-2.0/group-02, report-2.0/individual-02, report-2.0/individual-03
    // report-2.0/individual-04, report-2.0/individual-06, report-2.0/individual-07, report-2.0/metadata-01
    let lines = lines("report_v2_0.pcap");
    let first = &lines[0];
    assert_eq!(
        (&first["version"], &first["node_id"], &first["sequence"]),
        (&json!("2.0"), &json!(3), &json!(1))
    );
    assert_eq!(
        first["reports"],
        json!([{
            "type": "int", "inner": "ipv4",
            "dropped": false, "queue": false, "flow_report": true, "intermediate": false,
            "metadata": {"ingress_interface": 11, "egress_interface": 12, "queue_id": 0, "queue_occupancy": 300},
            "domain": 0, "domain_metadata": "", "drop_reason": null,
            "flow": {
                "source": "10.1.1.1", "destination": "10.2.2.2", "protocol": 6,
                "source_port": 40000, "destination_port": 80,
            },
            "int": [],
        }])
    );
    // report-2.0/metadata-07, report-2.0/tlv-01, report-2.0/tlv-02, report-2.0/tlv-03
    let tlv = &lines[1]["reports"][0];
    assert_eq!((&tlv["inner"], &tlv["domain"]), (&json!("tlv"), &json!(0xabcd)));
    assert_eq!((&tlv["domain_metadata"], &tlv["flow"]), (&json!("5a5a5a5a"), &first["reports"][0]["flow"]));

    let embedded = &lines[2]["reports"][0]["int"][0];
    assert_eq!((&embedded["type"], &embedded["original"]), (&json!("md"), &json!({"ip_protocol": 6})));
    assert_eq!(embedded["hops"].as_array().unwrap().len(), 2);
    // report-2.0/individual-01
    let inner_only = &lines[3]["reports"][0];
    assert_eq!((&inner_only["type"], &inner_only["metadata"]), (&json!("inner-only"), &json!({})));
    assert_eq!(inner_only["int"][0]["hops"].as_array().unwrap().len(), 3);
}

#[test]
fn coalesced_reports_are_read_one_by_one() {
    // report-2.0/group-04, report-2.0/group-06, report-2.0/metadata-03
    let line = &lines("report_v2_0.pcap")[4];
    assert_eq!((&line["node_id"], &line["hw_id"], &line["sequence"]), (&json!(7), &json!(5), &json!(6)));
    let [flow, drop, queue] = line["reports"].as_array().unwrap().as_slice() else { panic!("three reports") };
    assert_eq!((&flow["flow_report"], &flow["dropped"]), (&json!(true), &json!(false)));
    assert_eq!((&drop["dropped"], &drop["drop_reason"]), (&json!(true), &json!(80)));
    assert_eq!(drop["metadata"]["ingress_timestamp"], 0x1234_5678_9abc_u64);
    assert_eq!(
        (&queue["queue"], &queue["flow"], &queue["inner"]),
        (&json!(true), &Value::Null, &json!("none"))
    );
}

#[test]
fn reports_of_mx_and_of_others_are_read() {
    let lines = lines("report_v2_0.pcap");
    // report-2.0/modes-02
    let mx = &lines[5]["reports"][0];
    assert_eq!(mx["metadata"], json!({"queue_id": 1, "queue_occupancy": 9}));
    assert_eq!(
        (&mx["int"][0]["type"], &mx["int"][0]["source_only"]),
        (&json!("mx"), &json!("0000000f12345678"))
    );
    // A switch that rounds Report Length down leaves bytes behind its report.
    let local = &lines[6]["reports"][0];
    assert_eq!(local["metadata"]["egress_timestamp"], 73_588_233_557_u64);
    assert_eq!(lines[7]["error"], "individual report at byte 50: Report Length 60 is more than 14");
}
