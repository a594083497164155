//! Links, hosts and talkers, with one request each.

use inband_testkit::md_frame;
use serde_json::{Value, json};

use super::System;

#[test]
fn the_flows_of_a_link_are_one_question() {
    let system = System::start("");
    system.report_frame(5, &md_frame().hop(7).hop(8).build());
    let flows = system.wait_for("/api/v1/flows", |flows| flows[0]["reports"] == 5);
    let links = system.wait_for("/api/v1/links", |links| links[0]["id"].is_string());
    let link = links[0]["id"].as_str().unwrap();
    let (from, to) = (&links[0]["from"], &links[0]["to"]);

    for id in [link.to_owned(), format!("{from}-{to}")] {
        let found = system.ask(&format!("/api/v1/links/{id}/flows"));
        assert_eq!((found.as_array().unwrap().len(), &found[0]["id"]), (1, &flows[0]["id"]), "{id}");
    }
    for other in [format!("{to}-{from}"), format!("{from}-9"), format!("{from}.60000-{to}")] {
        assert_eq!(system.ask(&format!("/api/v1/links/{other}/flows")), json!([]), "{other}");
    }
    assert_eq!(system.get("/api/v1/links/leaf1/flows").0, 400);
    assert_eq!(system.get(&format!("/api/v1/links/{link}/flows?limit=0")).1, "[]");
}

#[test]
fn the_paths_between_two_hosts_are_one_question() {
    let system = System::start("");
    system.report_frame(3, &md_frame().hop(7).hop(8).build());
    let flows = system.wait_for("/api/v1/flows", |flows| flows[0]["reports"] == 3);
    let flow = &flows[0]["flow"];
    let (source, destination) = (flow["source"].as_str().unwrap(), flow["destination"].as_str().unwrap());

    let hosts = format!("source={source}&destination={destination}");
    for question in
        [hosts.clone(), format!("source={source}/24"), "destination=lab".to_owned(), String::new()]
    {
        let paths = system.ask(&format!("/api/v1/paths?{question}"));
        assert_eq!(paths.as_array().unwrap().len(), 1, "{question}: {paths}");
        let path = &paths[0];
        assert_eq!(
            (&path["flows"], &path["current_flows"], &path["reports"]),
            (&json!(1), &json!(1), &json!(3))
        );
        assert_eq!((&path["path"], &path["path_names"]), (&flows[0]["path"], &flows[0]["path_names"]));
    }
    for other in [format!("source={destination}&destination={source}"), "source=fd00::/8".to_owned()] {
        assert_eq!(system.ask(&format!("/api/v1/paths?{other}")), json!([]), "{other}");
    }
    for wrong in ["source=nobody", "destination=10.0.0.0/33", "from=1"] {
        assert_eq!(system.get(&format!("/api/v1/paths?{wrong}")).0, 400, "{wrong}");
    }
}

#[test]
fn top_talkers_have_rates_over_time() {
    let system = System::start("");
    system.report_frame(6, &md_frame().hop(7).hop(8).build());
    system.wait_for("/api/v1/ledger", |ledger| ledger["total"]["stored"] == 6);
    let flows = system.wait_for("/api/v1/flows", |flows| flows[0]["reports"] == 6);

    for by in ["flow", "pair", "source", "destination"] {
        let found = system.ask(&format!("/api/v1/talkers?by={by}&seconds=60&step=20"));
        let talkers = found["talkers"].as_array().unwrap();
        assert_eq!((talkers.len(), &talkers[0]["reports"]), (1, &json!(6)), "{by}: {found}");
        let rates: Vec<f64> =
            talkers[0]["rates"].as_array().unwrap().iter().flat_map(Value::as_f64).collect();
        assert_eq!(rates.len(), 3);
        assert!((rates.iter().sum::<f64>() * 20.0 - 6.0).abs() < 1e-9, "{rates:?}");
        let has_source = by != "destination";
        assert_eq!(talkers[0]["source"] == flows[0]["flow"]["source"], has_source, "{by}");
        assert_eq!(talkers[0]["source_name"] == "lab", has_source, "{by}");
        assert_eq!(talkers[0]["protocol"].is_u64(), by == "flow");
    }
    // A time range before the first report.
    let before = system.ask("/api/v1/talkers?until=1000000000000&seconds=10");
    assert_eq!((&before["talkers"], &before["step_ns"]), (&json!([]), &json!(1_000_000_000)));
    for wrong in ["by=port", "seconds=0", "step=0", "seconds=5000&step=1", "seconds=99999999999999"] {
        assert_eq!(system.get(&format!("/api/v1/talkers?{wrong}")).0, 400, "{wrong}");
    }
}

#[test]
fn labels_of_the_names_file_are_in_answers_and_events() {
    let system = System::start("");
    system.report(5);
    let flows = system.wait_for("/api/v1/flows", |flows| flows[0]["reports"] == 5);
    let labels = json!({ "tenant": "blue", "as": "65001" });
    assert_eq!((&flows[0]["source_labels"], &flows[0]["destination_labels"]), (&labels, &labels));
    let events = system.wait_for("/api/v1/events", |events| events[0]["event"] == "new-flow");
    assert_eq!(events[0]["labels"], json!({ "source": labels, "destination": labels }));
}

impl System {
    /// The answer to a valid request.
    fn ask(&self, path: &str) -> Value {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }
}
