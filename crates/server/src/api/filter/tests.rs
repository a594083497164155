use inband_collector::FlowView;
use inband_model::{Flow, Hop, NameList, Names, Nanos, NodeId, Origin, Path};

use super::{Context, FlowFilter, complete};

#[test]
fn a_filter_leaves_the_flows_that_it_describes() {
    for (filter, is_left) in [
        ("", true),
        ("source = 10.0.1.0/24", true),
        ("source = 10.0.2.0/24", false),
        ("source != 10.0.2.0/24 and destination = db", true),
        ("host = 10.0.2.9", true),
        ("protocol = tcp and port = 443", true),
        ("port != 443", false),
        ("node = leaf or node = 99", true),
        ("node != 3", false),
        ("hops = 2 and latency >= 2us and latency < 1ms", true),
        ("total_latency = 2500ns", true),
        ("not (reports > 4 or changes = 0)", true),
        ("complete = true", true),
        ("age > 1s", false),
        ("NOT complete = false AND Reports = 4", true),
    ] {
        let filter =
            FlowFilter::parse(filter, &names()).unwrap_or_else(|error| panic!("{filter}: {error:?}"));
        assert_eq!(passes(&filter), is_left, "{filter:?}");
    }
}

#[test]
fn a_mistake_is_found_at_its_character() {
    for (filter, at, expected) in [
        ("colour = 1", 0, "source, destination"),
        ("source ~ 10.0.0.1", 7, "=, !="),
        ("source < 10.0.0.1", 7, "=, !="),
        ("source = nowhere", 9, "an address"),
        ("latency > fast", 10, "a time such as"),
        ("reports > 4 reports < 5", 12, "and, or"),
        ("(reports > 4", 12, ")"),
        ("reports >", 9, "a whole number"),
        ("é", 0, "source"),
    ] {
        let error = FlowFilter::parse(filter, &names()).unwrap_err();
        assert_eq!(error.at, at, "{filter}: {error:?}");
        assert!(error.expected.starts_with(expected), "{filter}: {error:?}");
    }
    let deep = "(".repeat(10_000);
    assert!(FlowFilter::parse(&deep, &names()).is_err());
}

#[test]
fn a_filter_goes_on_with_what_its_grammar_allows() {
    let texts = |text: &str| -> Vec<String> {
        complete(text, None, &names()).options.into_iter().map(|option| option.text).collect()
    };
    assert!(texts("").contains(&"source".to_owned()) && texts("").contains(&"not".to_owned()));
    assert_eq!(texts("so"), ["source", "source_port"]);
    assert_eq!(texts("source "), ["=", "!="]);
    assert_eq!(texts("source = "), ["db", "\"the lab\""]);
    assert_eq!(texts("node = l"), ["leaf"]);
    assert_eq!(texts("node = leaf "), ["and", "or"]);
    assert_eq!(texts("node = leaf and pro"), ["protocol"]);
    let completion = complete("node = leaf and pro", Some(2), &names());
    assert_eq!((completion.from, completion.options.len(), completion.error_at), (0, 2, Some(16)));
    // Every option in every state leads to a filter that is valid, or can be continued.
    for (field, comparison) in super::Field::ALL.iter().flat_map(|(field, name, _)| {
        field.comparisons().iter().map(move |comparison| (*name, comparison.sign()))
    }) {
        for value in texts(&format!("{field} {comparison} ")) {
            let filter = format!("{field} {comparison} {value}");
            assert!(FlowFilter::parse(&filter, &names()).is_ok(), "{filter}");
        }
    }
}

#[test]
fn a_name_with_both_kinds_of_quotes_is_offered_as_it_is_accepted() {
    let name = "spine \"quoted\" and 'single'";
    let list = format!("[[node]]\nid = 3\nname = {name:?}\n[[node]]\nid = 4\nname = \"\'\'\"\n");
    let names = Names::new(toml::from_str::<NameList>(&list).unwrap());
    let texts = |text: &str| -> Vec<String> {
        complete(text, None, &names).options.into_iter().map(|option| option.text).collect()
    };

    let offered = "\"spine \"\"quoted\"\" and 'single'\"";
    assert_eq!(texts("node = "), [offered, "\"\'\'\""]);
    // The name typed so far, with its quotes doubled or not yet closed.
    for begun in ["sp", "\"sp", "\"spine \"\"quo", "'spine \"quoted\" and \'\'sin"] {
        assert_eq!(texts(&format!("node = {begun}")), [offered], "{begun}");
    }
    for text in [offered, "'spine \"quoted\" and \'\'single\'\'\'"] {
        let filter = FlowFilter::parse(&format!("node = {text}"), &names);
        assert!(passes(&filter.unwrap_or_else(|error| panic!("{text}: {error:?}"))), "{text}");
    }
}

fn names() -> Names {
    let text = "[[node]]\nid = 3\nname = 'leaf'\n[[host]]\naddress = '10.0.2.9'\nname = 'db'\n\
                [[subnet]]\nprefix = '10.9.0.0/16'\nname = 'the lab'\n";
    Names::new(toml::from_str::<NameList>(text).unwrap())
}

fn passes(filter: &FlowFilter) -> bool {
    let hop = |node| Hop { node_id: NodeId(node), ..Hop::default() };
    let path = Path::new(&[hop(3), hop(7)]);
    let flow = Flow {
        source: "10.0.1.5".parse().unwrap(),
        destination: "10.0.2.9".parse().unwrap(),
        protocol: 6,
        source_port: 40_000,
        destination_port: 443,
    };
    let now = Nanos::from_secs(100);
    let view = FlowView {
        id: flow.id(),
        flow,
        path: Some(&path),
        hop_latency: &[Some(Nanos(500)), Some(Nanos(2_000))],
        hops_expected: Some(2),
        complete: true,
        origin: Origin::MdStack,
        path_since: now,
        path_seen_at: now,
        first_seen: now,
        last_seen: now,
        reports: 4,
    };
    filter.passes(&view, Context { now, changes: 1 })
}
