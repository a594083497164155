//! Answers from history to the requests of a page, over reported packets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use flate2::read::GzDecoder;
use inband_testkit::{IntFrame, inner_only, md_frame, packet, report_group};
use serde_json::{Value, json};

use super::System;

#[test]
fn packets_of_a_flow_come_with_their_hops_in_pages() {
    let (system, flow) = reported();
    let first = ask(&system, &format!("/api/v1/flows/{flow}/packets?limit=3"));
    assert_eq!((len(&first["packets"]["time"]), len(&first["hops"]["node"])), (3, 6), "{first}");
    assert_eq!(first["hops"]["node"], serde_json::json!([8, 7, 8, 7, 8, 7]));
    assert_eq!(first["hops"]["latency"][1], 700);
    assert_eq!(first["packets"]["latency"][0], 1_500);
    assert!(first["base"].is_string() && first["flow"] == flow.as_str());

    let next = first["next"].as_str().unwrap();
    let rest = ask(&system, &format!("/api/v1/flows/{flow}/packets?limit=3&after={next}"));
    assert_eq!((len(&rest["packets"]["time"]), &rest["next"]), (2, &Value::Null), "{rest}");

    let slow = ask(&system, &format!("/api/v1/flows/{flow}/packets?order=slowest&at_least=5000"));
    assert_eq!(len(&slow["packets"]["time"]), 0, "{slow}");
    let nothing = ask(&system, "/api/v1/flows/1/packets");
    assert_eq!(len(&nothing["packets"]["time"]), 0, "{nothing}");
}

#[test]
fn the_history_of_a_flow_has_its_paths_with_what_reports_say() {
    let (system, flow) = reported();
    let history = ask(&system, &format!("/api/v1/flows/{flow}/history"));
    let period = &history["periods"][0];
    let hops = period["hops"].as_array().unwrap();
    assert_eq!((hops.len(), &hops[0]["node"], &hops[1]["node"]), (2, &8.into(), &7.into()), "{history}");
    assert_eq!((&hops[1]["reports"], &hops[1]["p99"]), (&5.into(), &700.into()), "{history}");
    assert_eq!(history["comparison"], Value::Null);

    let now = ask(&system, "/api/v1/about")["now"].as_str().unwrap().to_owned();
    let compared = ask(&system, &format!("/api/v1/flows/{flow}/history?compare={now},{now}"));
    assert_eq!(compared["comparison"]["left"], serde_json::json!([]), "{compared}");
    assert_eq!(len(&compared["comparison"]["after"]["hops"]), 2, "{compared}");
}

#[test]
fn a_queue_a_heat_map_and_the_map_count_the_same_reports() {
    let (system, flow) = reported();
    let queue = ask(&system, "/api/v1/queues/timeline?node=7&interface=2&queue=3");
    assert_eq!((&queue["reports"], &queue["max_occupancy"]), (&5.into(), &1_000.into()), "{queue}");
    assert_eq!((&queue["flows"][0]["id"], &queue["flows"][0]["share"]), (&flow.as_str().into(), &1.0.into()));
    assert_eq!(queue["flows"][0]["role"], "culprit");
    let other = ask(&system, "/api/v1/queues/timeline?node=7&interface=2&queue=4");
    assert_eq!((&other["reports"], len(&other["samples"]["offset"])), (&0.into(), 0));

    let heat = ask(&system, "/api/v1/heat?node=7&interface=2&step=1m");
    assert_eq!(heat["count"], 5, "{heat}");
    let size = usize::try_from(heat["columns"]["size"][0].as_u64().unwrap()).unwrap();
    let edges = heat["edges"].as_array().unwrap();
    assert!(edges[size].as_u64() <= Some(700) && edges[size + 1].as_u64() > Some(700), "{heat}");
    assert_eq!(ask(&system, "/api/v1/heat?of=occupancy&queue=3")["count"], 10);

    let map = ask(&system, "/api/v1/map?by=max");
    assert_eq!(
        (&map["nodes"]["node"], &map["nodes"]["value"]),
        (&[7, 8][..].into(), &[700, 800][..].into()),
        "{map}"
    );
    assert_eq!(map["nodes"]["name"][0], "leaf \"seven\"");
    assert_eq!((&map["links"]["from"], &map["links"]["to"]), (&[1][..].into(), &[0][..].into()), "{map}");
    // In a small network, percentiles of a long range are of every minute, including this one, as its sketches
    // have them.
    let long = ask(&system, "/api/v1/map?live=15m");
    assert_eq!(
        (&long["source"], &long["interfaces"]["p99"]),
        (&"minutes".into(), &[695, 807][..].into()),
        "{long}"
    );
    let matrix = ask(&system, "/api/v1/map?form=matrix&by=reports");
    assert_eq!((len(&matrix["interfaces"]["node"]), &matrix["nodes"]["reports"]), (0, &[5, 5][..].into()));

    let summary = ask(&system, "/api/v1/summary?step=10s");
    let hops: u64 = summary["steps"]["hops"].as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    assert_eq!(
        (hops, &summary["ledger"]["accepted"], &summary["flows"]),
        (10, &5.into(), &1.into()),
        "{summary}"
    );
    let nodes = ask(&system, "/api/v1/nodes");
    let reporting = nodes.as_array().unwrap().iter().filter(|node| node["reports"].as_u64() > Some(0));
    assert_eq!((&summary["nodes"], &summary["active_events"]), (&reporting.count().into(), &0.into()));
    assert_eq!(summary["incidents"][0]["kinds"], serde_json::json!(["new-flow"]), "{summary}");
    assert_eq!(ask(&system, "/api/v1/drops?by=interface")["reports"], 0);
}

#[test]
fn drops_whose_report_has_no_hop_are_among_the_drops() {
    let system = System::start("");
    system.report(1);
    // Version 0.5 with D: the time, and the packet; the node is unknown.
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for sequence in 1_u32..=3 {
        let head = [0x0080_0000_u32, sequence, 5].map(u32::to_be_bytes).concat();
        let datagram = [&head[..], &packet().tcp(40_000, 80).build()].concat();
        socket.send_to(&datagram, system.reception.addresses()[0]).unwrap();
    }
    system.wait_for("/api/v1/ledger", |ledger| ledger["total"]["stored"] == 4);

    for by in ["reason", "node", "interface", "flow"] {
        let drops = system.wait_for(&format!("/api/v1/drops?by={by}"), |drops| drops["reports"] == 3);
        assert_eq!(drops["groups"]["reports"], json!([3]), "{drops}");
        assert_eq!(drops["groups"]["node"], json!([null]), "{drops}");
    }
    let map = ask(&system, "/api/v1/map?by=drops");
    let drops = map["interfaces"]["drops"].as_array().unwrap();
    assert_eq!(drops.iter().filter_map(Value::as_u64).sum::<u64>(), 3, "{map}");
}

#[test]
fn what_was_so_lately_stands_beside_what_was_so_ever() {
    let (system, _) = reported();

    let ports = ask(&system, "/api/v1/interfaces?window=1m");
    let of_seven = ports.as_array().unwrap().iter().find(|port| port["node_id"] == 7).unwrap();
    assert_eq!(
        of_seven["window"],
        serde_json::json!({ "count": 5, "p50": 672, "p99": 672, "max": 700 }),
        "{of_seven}"
    );
    let queues = ask(&system, "/api/v1/queues?window=10m");
    assert_eq!((&queues[0]["node_id"], &queues[0]["window"]["max"]), (&7.into(), &1_000.into()), "{queues}");
    let nodes = ask(&system, "/api/v1/nodes?node=8&window=10m");
    assert_eq!(nodes[0]["window"]["max"], 800, "{nodes}");
    let links = ask(&system, "/api/v1/links?window=10m");
    assert_eq!(links[0]["window"], Value::Null, "these nodes give no timestamps");
    assert!(ask(&system, "/api/v1/nodes")[0].get("window").is_none());

    let (status, body) = system.get("/api/v1/nodes?window=2m");
    let problem: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &problem["parameter"]), (400, &"window".into()), "{body}");
    assert_eq!(problem["allowed"], "10s, 1m, 10m", "{body}");
}

#[test]
fn the_links_a_node_spreads_flows_over_come_with_what_they_carry() {
    let system = System::start("");
    for (middle, egress, port, count) in [(9, 5, 1, 6), (10, 6, 2, 2)] {
        let hop = |node: u32, egress: u32| [node, 1 << 16 | egress, 700, 3 << 24 | 10];
        let hops = [hop(7, 2), hop(middle, 4), hop(8, egress)].concat();
        let frame = md_frame().with(|int| int.bitmap(0xf000).words(&hops)).over(packet().udp(port, 80));
        system.report_frame(count, &frame.build());
    }
    system.wait_for("/api/v1/ledger", |ledger| ledger["total"]["stored"] == 8);
    let ecmp = system.wait_for("/api/v1/ecmp?node=8", |ecmp| ecmp["groups"]["reports"][0] == 8);

    let groups = &ecmp["groups"];
    assert_eq!((&groups["node"], &groups["links"]), (&[8][..].into(), &[2][..].into()), "{ecmp}");
    assert_eq!((&groups["flows"][0], &groups["load"][0]), (&2.into(), &"reports".into()), "{ecmp}");
    let measures = (&groups["jain_permille"][0], &groups["highest_to_mean_permille"][0]);
    assert_eq!(measures, (&800.into(), &1_500.into()), "{ecmp}");
    let links = &ecmp["links"];
    assert_eq!((&links["egress_interface"], &links["next_node"]), (&[5, 6][..].into(), &[9, 10][..].into()));
    assert_eq!((&links["flows"], &links["reports"]), (&[1, 1][..].into(), &[6, 2][..].into()), "{ecmp}");
    assert_eq!(links["share_permille"], serde_json::json!([750, 250]), "{ecmp}");
    assert_eq!((&ecmp["series"]["reports"], &ecmp["step_ns"]), (&[6, 2][..].into(), &STEP_NS.into()));
    assert_eq!((&ecmp["largest"]["reports"], &ecmp["left_out"]), (&[6, 2][..].into(), &0.into()), "{ecmp}");
    // Nothing is spread at nodes with a single next hop, or in an earlier time range.
    assert_eq!(len(&ask(&system, "/api/v1/ecmp?node=9")["groups"]["node"]), 0);
    assert_eq!(len(&ask(&system, "/api/v1/ecmp?from=5&to=9")["groups"]["node"]), 0);
}

#[test]
fn bytes_that_are_sent_come_back_with_their_fields_and_wrong_ones_with_a_problem() {
    let system = System::start("");
    let datagram = report_group(7).sequence(17).with(inner_only().inner(3, &frame().build())).build();
    let hex: String = datagram.iter().map(|byte| format!("{byte:02x} ")).collect();
    let decode = |body: Value| system.send("post", "/api/v1/decode", &[], &body.to_string());

    let (status, body) = decode(serde_json::json!({ "hex": hex }));
    let decoded: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &decoded["error"]), (200, &Value::Null), "{body}");
    let names = decoded["fields"]["name"].as_array().unwrap();
    let sequence = names.iter().position(|name| name == "Sequence Number").unwrap();
    let field = |column: &str| &decoded["fields"][column][sequence];
    assert_eq!((field("value"), field("at"), field("bit")), (&"17".into(), &1.into(), &2.into()), "{body}");
    assert_eq!(names.iter().filter(|name| *name == "hop").count(), 2, "{body}");

    let (status, body) = decode(serde_json::json!({ "hex": "20000001" }));
    let decoded: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &decoded["error"]["at"]), (200, &0.into()), "{body}");
    for wrong in [serde_json::json!({ "hex": "xyz" }), serde_json::json!({ "hex": "00".repeat(70_000) })] {
        let (status, body) = decode(wrong);
        let problem: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &problem["parameter"]), (400, &"hex".into()), "{body}");
    }
    assert_eq!(decode(serde_json::json!({ "hex": "20", "start": "middle" })).0, 400);
    assert_eq!(decode(serde_json::json!({ "bytes": "20" })).0, 400);
}

#[test]
fn a_wrong_parameter_is_named_with_what_is_allowed() {
    let system = System::start("");
    for (path, parameter, allowed) in [
        ("/api/v1/flows/1/packets?order=fast", "order", "time, slowest"),
        ("/api/v1/flows/1/packets?limit=0", "limit", "a whole number from 1 to 2000"),
        ("/api/v1/flows/x/packets", "id", "a number, as /api/v1/flows has it"),
        ("/api/v1/heat?of=colour", "of", "latency, occupancy, link"),
        ("/api/v1/heat?of=link", "of", "of=link with node and interface"),
        ("/api/v1/queues/timeline?node=7", "interface", "once"),
        ("/api/v1/map?live=5", "live", "a length of time above 0, such as 20ms, 5m or 1h"),
        ("/api/v1/map?from=9&to=3", "from", "a time before to"),
        ("/api/v1/map?at=9&live=5m", "live", "either live, or at with span, or from with to"),
        ("/api/v1/drops?live=1h&step=1ms", "step", ""),
        ("/api/v1/events?severity=bad", "severity", "info, warning, critical"),
        ("/api/v1/events?flow=x", "flow", "a number, as /api/v1/flows has it"),
        ("/api/v1/heat?flow=x", "flow", "a number, as /api/v1/flows has it"),
        ("/api/v1/about?bogus=1", "bogus", "no parameter"),
        ("/api/v1/ledger?bogus=1", "bogus", "no parameter"),
        ("/api/v1/events?after=x", "after", "an id as /api/v1/events has it"),
        ("/api/v1/nodes?bogus=1", "bogus", "limit, node"),
        ("/api/v1/nodes?limit=1&limit=2", "limit", "once"),
    ] {
        let (status, body) = system.get(path);
        let problem: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(
            (status, &problem["status"], &problem["parameter"]),
            (400, &400.into(), &parameter.into()),
            "{path}: {body}"
        );
        assert!(problem["allowed"].as_str().unwrap().contains(allowed), "{path}: {body}");
    }
    assert!(
        system.head_of("get", "/api/v1/nodes?bogus=1").contains("content-type: application/problem+json")
    );
}

#[test]
fn answers_are_as_small_as_the_caller_reads_them() {
    let system = System::start("");
    let plain = system.get("/api/v1/openapi.json").1;
    for (coding, accepted) in [("gzip", "gzip, deflate"), ("zstd", "gzip, zstd")] {
        let mut stream = TcpStream::connect(system.address).unwrap();
        let host = system.address;
        let head = format!("Host: {host}\r\nAccept-Encoding: {accepted}\r\nConnection: close\r\n\r\n");
        stream.write_all(format!("GET /api/v1/openapi.json HTTP/1.1\r\n{head}").as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        assert!(head.contains(&format!("content-encoding: {coding}")), "{head}");
        let packed = &answer[end + 4..];
        let mut text = String::new();
        match coding {
            "gzip" => drop(GzDecoder::new(packed).read_to_string(&mut text).unwrap()),
            _ => text = String::from_utf8(zstd::decode_all(packed).unwrap()).unwrap(),
        }
        assert!(text == plain && packed.len() * 3 < plain.len(), "{coding}");
    }
}

#[test]
fn events_of_one_place_are_found_by_one_of_them_and_by_their_flow() {
    let (system, flow) = reported();
    let events = system.wait_for("/api/v1/events", |events| events[0]["event"] == "new-flow");
    let id = events[0]["id"].as_str().unwrap();
    let related = ask(&system, &format!("/api/v1/events?related={id}"));
    assert_eq!(related[0]["id"], id, "{related}");
    assert_eq!(len(&ask(&system, &format!("/api/v1/events?flow={flow}"))), 1);
    assert_eq!(len(&ask(&system, "/api/v1/events?flow=1")), 0);
    assert_eq!(len(&ask(&system, &format!("/api/v1/events?after={id}"))), 0);
}

#[test]
fn flows_are_searched_by_a_filter_and_a_mistake_in_it_is_found_at_its_character() {
    let (system, flow) = reported();
    let found = ask(&system, "/api/v1/flows/search?filter=node%20=%207%20and%20latency%20%3E%20600ns");
    assert_eq!((&found["found"], &found["columns"]["id"][0]), (&1.into(), &flow.as_str().into()), "{found}");
    assert_eq!(found["columns"]["path"], serde_json::json!([[8, 7]]));
    assert_eq!(
        (&found["columns"]["latency"][0], &found["columns"]["worst_latency"][0]),
        (&1_500.into(), &800.into())
    );
    assert_eq!((&found["columns"]["worst"][0], &found["next"]), (&0.into(), &Value::Null));
    let nothing = ask(&system, "/api/v1/flows/search?filter=latency%20%3E%201ms");
    assert_eq!(
        (&nothing["found"], &nothing["known"], len(&nothing["columns"]["id"])),
        (&0.into(), &1.into(), 0)
    );

    let (status, body) = system.get("/api/v1/flows/search?filter=node%20=%207%20and%20colour%20=%201");
    let problem: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &problem["parameter"]), (400, &"filter".into()), "{body}");
    assert!(problem["error"].as_str().unwrap().contains("at character 14"), "{body}");
    let completion = ask(&system, "/api/v1/filter/complete?text=node%20=%20l");
    assert_eq!(completion["options"][0]["text"], "'leaf \"seven\"'", "{completion}");
}

#[test]
fn an_answer_in_sql_has_the_form_that_is_asked_for() {
    let system = System::start("");
    let ask = |format: &str| {
        let sql = "SELECT 1 AS n, '=1+1' AS text, NULL AS missing UNION SELECT 2, 'a\\\"b', -5";
        let body = format!("{{\"sql\":\"{sql}\",\"format\":\"{format}\"}}");
        system.send("post", "/api/v1/query", &[], &body)
    };
    assert_eq!(
        ask("csv"),
        (200, "\"n\",\"text\",\"missing\"\r\n1,\"'=1+1\",\r\n2,\"a\"\"b\",-5\r\n".to_owned())
    );
    let lines =
        "{\"n\":1,\"text\":\"=1+1\",\"missing\":null}\n{\"n\":2,\"text\":\"a\\\"b\",\"missing\":-5}\n";
    assert_eq!(ask("jsonl"), (200, lines.to_owned()));
    let columns: Value = serde_json::from_str(&ask("columns").1).unwrap();
    assert_eq!(columns["values"], serde_json::json!([[1, 2], ["=1+1", "a\"b"], [null, -5]]), "{columns}");
    assert_eq!(ask("xml").0, 400);
}

#[test]
fn one_who_comes_back_hears_the_events_that_came_meanwhile() {
    let system = System::start("");
    let hear = |headers: &[(&str, &str)], until: &str| {
        let mut stream = BufReader::new(system.open("get", "/api/v1/stream?topics=event", headers, ""));
        let mut heard = String::new();
        while !heard.contains(until) {
            assert!(stream.read_line(&mut heard).unwrap() > 0, "{heard}");
        }
        heard
    };
    let id_of = |heard: &str| {
        heard.lines().rev().find_map(|line| line.strip_prefix("id: ")).map(str::to_owned).unwrap()
    };
    // Nothing is known of another run, so everything so far is lost or sent again.
    system.report_frame(1, &frame().build());
    system.wait_for("/api/v1/events", |events| events[0]["event"] == "new-flow");
    let first = hear(&[("Last-Event-ID", "other-7")], "new-flow");
    let id = id_of(&first);

    system.report_frame(1, &md_frame().hop(9).over(packet().udp(5, 6)).build());
    system.wait_for("/api/v1/events", |events| events.as_array().unwrap().len() >= 2);
    let second = hear(&[("Last-Event-ID", &id)], "new-flow");

    assert!(!second.contains("event: ledger") && !second.contains(&format!("id: {id}\n")), "{second}");
    assert_ne!(id_of(&second), id);
    assert_eq!(system.get("/api/v1/stream?topics=weather").0, 400);
}

#[test]
fn one_who_follows_hears_what_changes_in_the_fabric_and_among_flows() {
    let system = System::start("");
    let mut stream = BufReader::new(system.open("get", "/api/v1/stream?topics=map,flows", &[], ""));
    system.report_frame(5, &frame().build());
    let mut heard: Vec<(String, Value)> = Vec::new();
    let mut name = String::new();
    let is_told = |heard: &[(String, Value)]| {
        let reports =
            |told: &Value| told["nodes"]["reports"].as_array().is_some_and(|all| all.contains(&json!(5)));
        let nodes = |(name, told): &(String, Value)| name == "map" && reports(told);
        let flows = |(name, told): &(String, Value)| name == "flows" && told["flows"][0]["reports"] == 5;
        heard.iter().any(nodes) && heard.iter().any(flows)
    };
    while !is_told(&heard) {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).unwrap() > 0 && heard.len() < 60, "{:?}", heard.first());
        if let Some(event) = line.strip_prefix("event: ") {
            event.trim().clone_into(&mut name);
        } else if let Some(data) = line.strip_prefix("data: ") {
            heard.push((name.clone(), serde_json::from_str(data).unwrap()));
        }
    }
    assert!(heard.iter().all(|(name, _)| name == "map" || name == "flows"), "{heard:?}");
}

#[test]
fn a_map_in_groups_has_groups_in_the_place_of_nodes() {
    let (system, _) = reported();
    let full = ask(&system, "/api/v1/map?live=1h");
    let grouped = ask(&system, "/api/v1/map?live=1h&group=auto&by=reports");
    let nodes: Vec<Value> =
        full["nodes"]["node"].as_array().unwrap().iter().map(|node| json!([node])).collect();
    assert_eq!(grouped["groups"]["nodes"], json!(nodes), "{grouped}");
    assert_eq!((len(&grouped["nodes"]["node"]), len(&grouped["links"]["from"])), (0, 0), "{grouped}");
    assert_eq!(len(&grouped["bundles"]["from"]), len(&full["links"]["from"]), "{grouped}");
    assert_eq!(system.get("/api/v1/map?group=pods").0, 400);
}

#[test]
fn events_are_found_by_the_time_up_to_now_too() {
    let system = System::start("");
    system.report_frame(1, &frame().build());
    system.wait_for("/api/v1/events", |events| events[0]["event"] == "new-flow");
    let found = |time: &str| ask(&system, &format!("/api/v1/events?kind=new-flow&{time}"));
    for time in ["live=1h", "limit=10", "from=2020-01-01T00:00:00Z"] {
        assert_eq!(found(time)[0]["event"], "new-flow", "{time}");
    }
    assert_eq!(found("at=2020-01-01T00:00:00Z&span=1h"), json!([]));
    let (status, problem) = system.get("/api/v1/events?live=1h&from=1");
    assert!(status == 400 && problem.contains("\"parameter\":\"live\""), "{problem}");
}

/// Omitting an active event would mean that it is over.
#[test]
fn a_limit_of_events_is_one_of_past_ones_and_behind_another_page_of_all() {
    let system = System::start("");
    let hop = |node: u32| [node, 1 << 16 | 2, 700, 3 << 24 | 1_000];
    let looped = || md_frame().with(|int| int.bitmap(0xf000).words(&[hop(7), hop(8), hop(7)].concat()));
    system.report_frame(1, &looped().build());
    system.report_frame(1, &looped().over(packet().udp(5, 6)).build());
    system.wait_for("/api/v1/events?kind=new-flow", |events| len(events) == 2);
    assert_eq!(len(&ask(&system, "/api/v1/events?kind=new-flow&limit=1")), 1);

    let loops = system.wait_for("/api/v1/events?kind=loop&limit=1", |events| len(events) == 2);
    assert_eq!((&loops[0]["phase"], &loops[1]["phase"]), (&json!("begin"), &json!("begin")), "{loops}");
    assert_eq!(len(&ask(&system, "/api/v1/events?kind=loop&active=true&limit=1")), 2);
    let page = |after: &Value| {
        let after = after.as_str().unwrap();
        ask(&system, &format!("/api/v1/events?severity=warning&limit=1&after={after}"))
    };
    assert_eq!(page(&loops[0]["id"])[0]["id"], loops[1]["id"]);
    assert_eq!(len(&page(&loops[0]["id"])), 1);
    // They go on, so they belong to every later time.
    let later = loops[0]["last"].as_u64().unwrap() + 1;
    assert_eq!(len(&ask(&system, &format!("/api/v1/events?kind=loop&from={later}"))), 2);
    // Behind the first past event, only past ones follow.
    let flows = ask(&system, "/api/v1/events?kind=new-flow");
    let rest = ask(&system, &format!("/api/v1/events?after={}", flows[0]["id"].as_str().unwrap()));
    assert_eq!((len(&rest), &rest[0]["id"]), (1, &flows[1]["id"]), "{rest}");
}

#[test]
fn one_who_heard_no_event_before_the_break_hears_those_that_came_in_it() {
    let system = System::start("");
    let mut stream = BufReader::new(system.open("get", "/api/v1/stream?topics=event", &[], ""));
    let mut heard = String::new();
    while !heard.contains("id: ") || !heard.ends_with('\n') {
        assert!(stream.read_line(&mut heard).unwrap() > 0, "{heard}");
    }
    let id = heard.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    drop(stream);

    system.report_frame(1, &frame().build());
    system.wait_for("/api/v1/events", |events| events[0]["event"] == "new-flow");
    let again = [("Last-Event-ID", id)];
    let mut stream = BufReader::new(system.open("get", "/api/v1/stream?topics=event", &again, ""));
    let mut heard = String::new();
    while !heard.contains("new-flow") {
        assert!(stream.read_line(&mut heard).unwrap() > 0, "{heard}");
    }
    assert!(!heard.contains("event: missed"), "{heard}");
}

#[test]
fn the_thresholds_of_congestion_are_told() {
    let (system, _) = reported();
    let about = ask(&system, "/api/v1/about");
    assert_eq!(about["congestion"]["trigger_latency"], 100_000, "{about}");
    let timeline = ask(&system, "/api/v1/queues/timeline?node=1&interface=1");
    assert_eq!(timeline["thresholds"]["reset_latency"], 50_000, "{timeline}");
}

/// A collector that has stored five reports on packets of one flow, and the flow.
fn reported() -> (System, String) {
    let system = System::start("");
    system.report_frame(5, &frame().build());
    system.wait_for("/api/v1/ledger", |ledger| ledger["total"]["stored"] == 5);
    let flows = system.wait_for("/api/v1/flows", |flows| flows[0]["reports"] == 5);
    let flow = flows[0]["id"].as_str().unwrap().to_owned();
    system.wait_for(&format!("/api/v1/flows/{flow}/history"), |history| len(&history["periods"]) == 1);
    (system, flow)
}

fn ask(system: &System, path: &str) -> Value {
    let (status, body) = system.get(path);
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

fn len(value: &Value) -> usize {
    value.as_array().map_or(usize::MAX, Vec::len)
}

/// A packet that passed queue 3 of nodes 8 and 7, and stayed 800 ns in the first and 700 ns in the second.
fn frame() -> IntFrame {
    let hop =
        |node: u32, egress: u32, latency: u32, depth: u32| [node, 1 << 16 | egress, latency, 3 << 24 | depth];
    let hops = [hop(7, 2, 700, 1_000), hop(8, 5, 800, 10)].concat();
    md_frame().with(|int| int.bitmap(0xf000).words(&hops))
}

/// Length of a step of `/api/v1/ecmp`.
const STEP_NS: u64 = 60_000_000_000;
