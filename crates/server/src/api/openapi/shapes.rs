//! Which keys do answers have, and what do they mean?

use serde_json::{Map, Value, json};

/// A JSON object of an answer.
pub(in crate::api) struct Shape {
    pub(in crate::api) name: &'static str,
    about: &'static str,
    keys: &'static [Key],
}

/// A key, the type of its value, and what it means. Types are `integer`, `number`, `boolean`, `string`, `object` or the name of
/// a shape; `[…]` is a list and `{…}` an object with any keys; `?` in front says that it may be null, `-` that the key
/// may be missing.
type Key = (&'static str, &'static str, &'static str);

/// The schemas of all shapes, by their names.
pub(super) fn schemas() -> Value {
    let schemas = SHAPES.iter().map(|shape| (shape.name.to_owned(), schema_of(shape)));
    Value::Object(schemas.collect())
}

fn schema_of(shape: &Shape) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, of, about) in shape.keys {
        let mut schema = typed(of.trim_start_matches('-'));
        schema["description"] = (*about).into();
        properties.insert((*name).to_owned(), schema);
        if !of.starts_with('-') {
            required.push(*name);
        }
    }
    let mut schema = json!({ "type": "object", "description": shape.about, "properties": properties });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// The schema of a type as [`Key`] writes it; `|` stands between two of which it is one.
pub(in crate::api) fn typed(of: &str) -> Value {
    let within = |open: char, close: char| of.strip_prefix(open)?.strip_suffix(close);
    if let Some((one, other)) = of.split_once('|') {
        return json!({ "oneOf": [typed(one), typed(other)] });
    }
    if let Some(of) = of.strip_prefix('?') {
        return json!({ "anyOf": [typed(of), { "type": "null" }] });
    }
    if let Some(of) = within('[', ']') {
        return json!({ "type": "array", "items": typed(of) });
    }
    if let Some(of) = within('{', '}') {
        return json!({ "type": "object", "additionalProperties": typed(of) });
    }
    match of {
        "any" => json!({}),
        "integer" | "number" | "boolean" | "string" | "object" => json!({ "type": of }),
        shape => json!({ "$ref": format!("#/components/schemas/{shape}") }),
    }
}

const fn shape(name: &'static str, about: &'static str, keys: &'static [Key]) -> Shape {
    Shape { name, about, keys }
}

/// Every shape there is.
pub(in crate::api) const SHAPES: &[Shape] = &[
    shape("Nothing", "it is done", &[]),
    shape(
        "Latency",
        "nanoseconds",
        &[
            ("count", "integer", "samples so far"),
            ("last", "integer", "the latest one"),
            ("min", "integer", "the lowest one so far"),
            ("max", "integer", "the highest one so far"),
            ("p50", "integer", "the median of the last million or so, to 3.2 %"),
            ("p99", "integer", "what 99 of 100 of the last million or so stay below, to 3.2 %"),
        ],
    ),
    shape(
        "WindowValues",
        "what reports told in a window; percentiles are at most 6.3 % off",
        &[
            ("count", "integer", "how many values"),
            ("p50", "integer", "the median"),
            ("p99", "integer", "what 99 of 100 do not exceed"),
            ("max", "integer", "the greatest"),
        ],
    ),
    shape(
        "Node",
        "a node that reports, or stands on a stack",
        &[
            ("node_id", "integer", "the node"),
            ("name", "?string", "what people call it"),
            ("addresses", "[string]", "where its reports come from, the latest first"),
            ("reports", "integer", "individual reports it sent"),
            ("lost", "integer", "datagrams it sent that did not arrive"),
            ("lost_unknown", "integer", "times at which an unknown number of them did not"),
            ("first_seen", "integer", "when the first report by it or on it arrived"),
            ("last_seen", "integer", "when the latest one did"),
            ("egress_interfaces", "[integer]", "those that were seen"),
            ("latency", "?Latency", "hop latency over all of them"),
            ("window", "-?WindowValues", "hop latency in the window that was asked for; null: no report"),
            ("labels", "-{string}", "what the names file says of it besides"),
        ],
    ),
    shape(
        "Link",
        "a link that paths have shown, in the direction packets take",
        &[
            ("id", "string", "by which its flows are asked for"),
            ("from", "integer", "the node packets leave"),
            ("from_name", "?string", "its name"),
            ("egress_interface", "?integer", "by which they leave it"),
            ("egress_interface_name", "?string", "its name"),
            ("to", "integer", "the node they come to"),
            ("to_name", "?string", "its name"),
            ("ingress_interface", "?integer", "by which they come"),
            ("ingress_interface_name", "?string", "its name"),
            ("certain", "boolean", "whether no other node stands between the two"),
            ("first_seen", "integer", "when the first path over it was told"),
            ("last_seen", "integer", "when a path over it was told last, to an eighth of an epoch"),
            ("latency", "?Latency", "how long packets take, by the clocks at both ends"),
            ("clock_uncertainty", "?integer", "by how much latency may be wrong; null: by any amount"),
            (
                "window",
                "-?WindowValues",
                "time over the link in the window that was asked for; null: no report",
            ),
            ("egress_interface_labels", "-{string}", "what the names file says besides"),
            ("ingress_interface_labels", "-{string}", "what the names file says besides"),
        ],
    ),
    shape(
        "Topology",
        "nodes and links",
        &[("nodes", "[Node]", "by rising id"), ("links", "[Link]", "by rising ids of both ends")],
    ),
    shape(
        "Interface",
        "how long packets stay in a node on their way to one of its interfaces",
        &[
            ("node_id", "integer", "the node"),
            ("node_name", "?string", "its name"),
            ("egress_interface", "?integer", "the interface"),
            ("interface_name", "?string", "its name"),
            ("interface_to", "?string", "what is on the other end of its link"),
            ("latency", "?Latency", "the hop latency"),
            ("window", "-?WindowValues", "hop latency in the window that was asked for; null: no report"),
            ("utilization", "?Level", "of the interface, in the node's unit"),
            ("utilization_full", "?integer", "the value that means a full link; null: not known"),
            (
                "utilization_permille",
                "?integer",
                "the latest one in thousandths of a full link; null: not known",
            ),
            ("labels", "-{string}", "what the names file says of the interface besides"),
            ("node_labels", "-{string}", "what it says of the node"),
            ("last_seen", "integer", "when a report told of it last"),
        ],
    ),
    shape(
        "Level",
        "how high something stands",
        &[
            ("last", "integer", "the latest value"),
            ("max", "integer", "the highest so far"),
            ("last_at", "integer", "when the latest was reported"),
        ],
    ),
    shape(
        "Queue",
        "how deep a queue is, in the node's unit",
        &[
            ("node_id", "integer", "the node"),
            ("node_name", "?string", "its name"),
            ("egress_interface", "?integer", "the interface"),
            ("interface_name", "?string", "its name"),
            ("queue_id", "integer", "the queue of the interface"),
            ("last", "integer", "the latest occupancy"),
            ("recent", "integer", "the highest of the last second or two"),
            ("max", "integer", "the highest so far"),
            ("last_at", "integer", "when the latest was reported"),
            ("congested", "boolean", "whether it is congested"),
            ("unit", "?string", "in what the node counts: bytes, cells or packets; null: not known"),
            ("last_bytes", "?integer", "last in bytes; null: not known"),
            ("recent_bytes", "?integer", "recent in bytes; null: not known"),
            ("max_bytes", "?integer", "max in bytes; null: not known"),
            ("window", "-?WindowValues", "occupancy in the window that was asked for; null: no report"),
            ("interface_labels", "-{string}", "what the names file says of the interface besides"),
            ("node_labels", "-{string}", "what it says of the node"),
        ],
    ),
    shape(
        "FiveTuple",
        "a flow",
        &[
            ("source", "string", "its address"),
            ("destination", "string", "its address"),
            ("protocol", "integer", "the number of the IP protocol"),
            ("source_port", "integer", "0 where the protocol has none"),
            ("destination_port", "integer", "0 where the protocol has none"),
        ],
    ),
    shape(
        "Hop",
        "a node on a path",
        &[
            ("node_id", "integer", "the node"),
            ("ingress_interface", "?integer", "by which packets come in"),
            ("egress_interface", "?integer", "by which they leave"),
        ],
    ),
    shape(
        "Flow",
        "a flow and its path",
        &[
            ("id", "string", "of the flow, a number of 63 bits"),
            ("flow", "FiveTuple", "the flow"),
            ("source_name", "?string", "what people call the source"),
            ("destination_name", "?string", "what people call the destination"),
            ("path", "?[Hop]", "the latest path, first hop first"),
            ("path_names", "[?string]", "what people call its nodes"),
            ("source_labels", "-{string}", "what the names file says of the source besides"),
            ("destination_labels", "-{string}", "what it says of the destination"),
            ("hop_latency", "[?integer]", "nanoseconds, for each hop of the path"),
            ("hops_expected", "?integer", "how many hops the path should have"),
            ("complete", "boolean", "whether all hops were seen, as far as is known"),
            ("origin", "string", "md-stack, mx-report or xd-report"),
            ("path_since", "integer", "when the path was first seen"),
            ("path_seen_at", "integer", "when it was last confirmed"),
            ("first_seen", "integer", "when the first report on the flow arrived"),
            ("last_seen", "integer", "when the latest one did"),
            ("reports", "integer", "individual reports on it"),
        ],
    ),
    shape(
        "FlowPaths",
        "a flow and the paths it has taken lately",
        &[("flow", "Flow", "the flow"), ("paths", "[FlowPath]", "the latest first")],
    ),
    shape(
        "FlowPath",
        "a path, and when a flow took it",
        &[
            ("id", "string", "of the path, 16 hexadecimal digits, as path_id in SQL"),
            ("path", "[Hop]", "first hop first"),
            ("since", "integer", "when it was first seen"),
            ("until", "integer", "when it was last confirmed"),
            ("current", "boolean", "whether it is the latest"),
        ],
    ),
    shape(
        "PathBetween",
        "a path that flows between two places take, or have taken lately",
        &[
            ("id", "string", "of the path, 16 hexadecimal digits, as path_id in SQL"),
            ("path", "[Hop]", "first hop first"),
            ("path_names", "[?string]", "what people call its nodes"),
            ("flows", "integer", "flows that took it"),
            ("current_flows", "integer", "flows whose latest path it is"),
            ("reports", "integer", "individual reports on those"),
            ("since", "integer", "when it was first seen"),
            ("until", "integer", "when it was last confirmed"),
        ],
    ),
    shape(
        "Talkers",
        "who was reported most in a time",
        &[
            ("from", "integer", "when it begins"),
            ("until", "integer", "when it ends"),
            ("step_ns", "integer", "length of a step, nanoseconds"),
            ("talkers", "[Talker]", "those with the most reports first"),
            ("damage", "[Damage]", "what is damaged and left out of the answer; mostly empty"),
        ],
    ),
    shape(
        "Talker",
        "a flow, a pair of hosts or a host, as was asked for",
        &[
            ("source", "-string", "its address"),
            ("source_name", "-?string", "its name"),
            ("source_labels", "-{string}", "what the names file says of it besides"),
            ("destination", "-string", "its address"),
            ("destination_name", "-?string", "its name"),
            ("destination_labels", "-{string}", "what the names file says of it besides"),
            ("protocol", "-integer", "the number of the IP protocol"),
            ("source_port", "-integer", "0 where the protocol has none"),
            ("destination_port", "-integer", "0 where the protocol has none"),
            ("reports", "integer", "individual reports in that time"),
            ("rates", "[number]", "reports a second in each step, the first step first"),
        ],
    ),
    shape(
        "EventLabels",
        "what the names file says of what an event is about",
        &[
            ("node", "-{string}", "of the node"),
            ("interface", "-{string}", "of its egress interface"),
            ("source", "-{string}", "of the flow's source"),
            ("destination", "-{string}", "of its destination"),
        ],
    ),
    shape(
        "Event",
        "something the collector announced",
        &[
            ("id", "string", "16 hexadecimal digits, the same at its beginning and its end"),
            ("event", "string", "its kind"),
            ("detail", "object", "what only its kind has"),
            ("severity", "string", "info, warning or critical"),
            ("key", "string", "what it is about"),
            ("title", "-string", "the key with the names people use"),
            ("labels", "-EventLabels", "what the names file says of what it is about"),
            ("queue_unit", "-string", "in what the node counts the occupancy in detail, where that is known"),
            ("peak_bytes", "-integer", "the occupancy in detail in bytes, where that is known"),
            (
                "utilization_permille",
                "-integer",
                "the utilization in detail in thousandths, where that is known",
            ),
            ("first", "integer", "when the first report it rests on arrived"),
            ("last", "integer", "when the latest one did"),
            ("count", "integer", "what it rests on"),
            ("confidence", "string", "possible, probable or certain"),
            ("evidence", "[Report]", "some of the reports"),
            ("phase", "string", "once, begin or end"),
            ("silenced", "-boolean", "whether nobody is told of it; false where it is missing"),
            ("end_reason", "-string", "of an end: over, quiet or run-ended"),
            ("acknowledged", "-Acknowledgement", "who knows of it"),
        ],
    ),
    shape(
        "Report",
        "names a report",
        &[
            ("node_id", "integer", "the reporting node"),
            ("hw_id", "integer", "the part of the node that numbers reports"),
            ("sequence", "integer", "its number"),
            ("received_at", "integer", "when it arrived"),
        ],
    ),
    shape(
        "Acknowledgement",
        "that somebody knows of an event",
        &[
            ("by", "string", "who"),
            ("comment", "-string", "what they say about it"),
            ("at", "-integer", "since when; the time at which it is noted, whatever is sent"),
        ],
    ),
    shape(
        "Silence",
        "of which events nobody is told; what is given must all match",
        &[
            ("kind", "-string", "the kind of event; every kind where it is left out"),
            ("key", "-string", "a text that the event's key contains"),
            ("until", "-integer", "when it ends; never where it is left out"),
            ("comment", "-string", "why"),
        ],
    ),
    shape(
        "NumberedSilence",
        "a silence in force",
        &[("number", "integer", "its number"), ("silence", "Silence", "the silence")],
    ),
    shape("Number", "what was made", &[("number", "integer", "its number")]),
    shape(
        "Question",
        "a question in SQL",
        &[
            ("sql", "string", "the tables are those of `inband query --tables`"),
            (
                "integers",
                "-string",
                "number (the default), or text for those past 2^53, which not every program reads",
            ),
            (
                "format",
                "-string",
                "json (the default), columns (`values` in the place of `rows`), csv, jsonl or parquet",
            ),
        ],
    ),
    shape(
        "Rows",
        "the answer to a question in SQL",
        &[
            ("columns", "[string]", "their names"),
            ("rows", "-[[any]]", "a value for each column: a number, a text or null"),
            ("values", "-[[any]]", "of `format` columns: a list for each column"),
            ("damage", "[Damage]", "what is damaged and left out of the answer; mostly empty"),
            ("unverified_segments", "integer", "files of earlier versions, which have no checksums"),
        ],
    ),
    shape(
        "Damage",
        "a part of a file of history that cannot be trusted",
        &[
            ("file", "string", "the file"),
            ("place", "string", "the part of it"),
            ("cause", "string", "what is wrong with it"),
            ("rows", "?integer", "rows that are left out; null where the damage hides how many"),
        ],
    ),
];
