//! Metrics in the text format of Prometheus, version 0.0.4.

use std::fmt::Write;

use inband_export::{Family, Kind, Sample, Value};

/// The families, each with its help and type before its samples.
pub(crate) fn text(families: &[Family]) -> String {
    let mut out = String::new();
    for Family { name, help, kind, samples } in families {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        // Writing to a string does not fail.
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for Sample { labels, value } in samples {
            out.push_str(name);
            write_labels(labels, &mut out);
            let _ = match value {
                Value::Count(count) => writeln!(out, " {count}"),
                Value::Measure(measure) => writeln!(out, " {measure}"),
            };
        }
    }
    out
}

fn write_labels(labels: &[(&str, String)], out: &mut String) {
    for (index, (name, value)) in labels.iter().enumerate() {
        out.push(if index == 0 { '{' } else { ',' });
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let _ = write!(out, "{name}=\"{value}\"");
    }
    if !labels.is_empty() {
        out.push('}');
    }
}

#[cfg(test)]
mod tests {
    use super::text;
    use inband_export::{Family, Sample};

    #[test]
    fn a_family_is_its_help_its_type_and_its_samples() {
        let label = |name: &str| ("name", name.to_owned());
        let samples = [
            Sample::new([("node", "7".to_owned()), label("a \"b\"\\\n")], u64::MAX),
            Sample::new([label("")], 0.5),
        ];
        let families =
            [Family::counter("a_total", "What a is.").of(3_u64), Family::gauge("b", "Of b.").with(samples)];
        assert_eq!(
            text(&families),
            "# HELP a_total What a is.\n# TYPE a_total counter\na_total 3\n# HELP b Of b.\n# TYPE b gauge\n\
             b{node=\"7\",name=\"a \\\"b\\\"\\\\\\n\"} 18446744073709551615\nb{name=\"\"} 0.5\n"
        );
    }
}
