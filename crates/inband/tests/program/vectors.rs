//! Every hand-built packet decodes to what its builder put in.

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
    // A switch that rounds Report Length down leaves bytes after its report.
    let local = &lines[6]["reports"][0];
    assert_eq!(local["metadata"]["egress_timestamp"], 73_588_233_557_u64);
    assert_eq!(lines[7]["error"], "individual report at byte 50: Report Length 60 is more than 14");
}

/// The contents of one INT header of a version before 2.0: version, and node and one more value per hop.
fn hops(int: &Value, key: &str) -> Vec<(u64, u64)> {
    let hop = |hop: &Value| (hop["node_id"].as_u64().unwrap(), hop[key].as_u64().unwrap());
    int["hops"].as_array().unwrap().iter().map(hop).collect()
}

#[test]
fn int_before_2_0_is_read_in_every_encapsulation() {
    const OCCUPANCY: [(u64, u64); 3] = [(0x3333_3333, 170), (0x2222_2222, 0x102), (0x1111_1111, 0x203)];
    for (vector, version, left) in
        [("int_v0_5.pcap", "0.5", [14, 13, 13]), ("int_v1_0.pcap", "1.0", [6, 5, 5])]
    {
        let lines = lines(vector);
        let encapsulations: Vec<_> = lines.iter().map(|line| &line["encapsulation"]).collect();
        assert_eq!(encapsulations, ["dscp", "vxlan-gpe", "geneve"]);
        for (line, left) in lines.iter().zip(left) {
            let int = &line["int"][0];
            assert_eq!((&int["version"], &int["type"]), (&json!(version), &json!("hop-by-hop")));
            assert_eq!((&int["remaining_hops"], &int["discard"]), (&json!(left), &Value::Null));
        }
        assert_eq!(hops(&lines[0]["int"][0], "queue_occupancy"), OCCUPANCY[1..]);
        assert_eq!(hops(&lines[1]["int"][0], "queue_occupancy"), OCCUPANCY);
        assert_eq!(hops(&lines[2]["int"][0], "queue_occupancy"), OCCUPANCY);
    }
    let tail = &lines("int_v0_5.pcap")[0]["int"][0]["original"];
    assert_eq!(tail, &json!({"dscp": 0, "udp_port": 22, "ip_protocol": 6}));
}

#[test]
fn two_headers_of_2016_are_read_in_one_packet() {
    let lines = lines("int_2016.pcap");
    assert_eq!((&lines[0]["int"][0]["hops"], &lines[0]["int"][0]["version"]), (&json!([]), &json!("2016")));
    assert_eq!(lines[1]["int"][0]["hops"], json!([{"node_id": 0x1111_1111}]));
    let int = &lines[2]["int"];
    assert_eq!(hops(&int[0], "queue_occupancy"), [(0x3003, 98), (0x3002, 640), (0x3001, 1285)]);
    assert_eq!(
        hops(&int[1], "ingress_timestamp"),
        [(0x3003, 1_101_842), (0x3002, 1_105_936), (0x3001, 1_106_458)]
    );
}

#[test]
fn packets_and_reports_of_host_int_are_read() {
    let lines = lines("host_int.pcap");
    for (line, encapsulation) in lines.iter().zip(["dscp", "dscp", "udp", "udp"]) {
        assert_eq!(line["encapsulation"], encapsulation);
        assert_eq!(
            (&line["int"][0]["version"], &line["int"][0]["sequence"]),
            (&json!("host-0.5"), &json!(1))
        );
        assert_eq!(line["int"][0]["hops"][0]["ingress_timestamp"], 0x5968_2f00);
    }
    for (line, sequence) in lines[4..6].iter().zip([1, 2]) {
        assert_eq!(
            (&line["version"], &line["node_id"], &line["sequence"]),
            (&json!("0.5"), &json!(3), &json!(sequence))
        );
        let report = &line["reports"][0];
        assert_eq!((&report["type"], &report["flow_report"]), (&json!("latency"), &json!(true)));
        assert_eq!(hops(&report["int"][0], "egress_timestamp"), [(3, 0x596a_1140), (2, 0x5968_2f00)]);
    }
    let summary = &lines[6]["reports"][0];
    assert_eq!((&summary["type"], &summary["dropped"]), (&json!("drop-summary"), &json!(true)));
    let expected = json!({
        "source_node_id": 2, "sink_node_id": 3, "ingress_interface": 4, "egress_interface": 5,
        "gap_time": 0x6553_f0ff, "gap_sequence": 41, "gap_count": 7,
    });
    assert_eq!(summary["drop_summary"], expected);
}

#[test]
fn reports_before_2_0_are_read() {
    let lines_0_5 = lines("report_v0_5.pcap");
    let reasons: Vec<_> = lines_0_5.iter().map(|line| line["reports"][0]["drop_reason"].as_u64()).collect();
    assert_eq!(reasons, [None, None, Some(80), Some(71), None, None]);
    let local = &lines_0_5[1]["reports"][0];
    assert_eq!((&lines_0_5[1]["node_id"], &lines_0_5[1]["hw_id"]), (&json!(1), &json!(1)));
    assert_eq!((&local["queue"], &local["flow_report"]), (&json!(true), &json!(true)));
    let metadata = json!({
        "ingress_interface": 0x81, "egress_interface": 0x82, "queue_id": 2, "queue_occupancy": 4000,
        "ingress_timestamp": 0x3b9a_ca00, "egress_timestamp": 0x3ba0_ce00,
    });
    assert_eq!(local["metadata"], metadata);
    let embedded = &lines_0_5[4];
    assert_eq!(
        (&embedded["node_id"], &embedded["reports"][0]["int"][0]["version"]),
        (&Value::Null, &json!("0.5"))
    );

    let lines_1_0 = lines("report_v1_0.pcap");
    assert_eq!(lines_1_0[0]["reports"][0]["int"][0]["version"], "1.0");
    let postcard = &lines_1_0[1];
    assert_eq!(
        (&postcard["version"], &postcard["hw_id"], &postcard["sequence"]),
        (&json!("1.0"), &json!(5), &json!(101))
    );
    let metadata = json!({
        "ingress_interface": 7, "egress_interface": 8, "hop_latency": 900, "queue_id": 1, "queue_occupancy": 77,
        "ingress_timestamp": 0x3b9a_ca00, "egress_timestamp": 0x3b9a_cd84, "egress_utilization": 0x2134,
    });
    assert_eq!(
        (&postcard["reports"][0]["metadata"], &postcard["reports"][0]["drop_reason"]),
        (&metadata, &json!(71))
    );
}
