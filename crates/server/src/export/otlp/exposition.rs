//! What do the lines of `/metrics` say?
//!
//! What is counted is written down once, for Prometheus; OTLP gets the same under the same names.

/// A metric with its samples.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Family {
    pub(super) name: String,
    pub(super) help: String,
    /// It only grows, from 0 on.
    pub(super) is_counter: bool,
    pub(super) samples: Vec<Sample>,
}

/// A value with its labels.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sample {
    pub(super) labels: Vec<(String, String)>,
    pub(super) value: f64,
}

/// The metrics of a text; lines that are none are left out.
pub(super) fn parse(text: &str) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap_or((rest, ""));
            families.push(Family { name: name.to_owned(), help: help.to_owned(), ..Family::default() });
        } else if let (Some(rest), Some(family)) = (line.strip_prefix("# TYPE "), families.last_mut()) {
            family.is_counter = rest.ends_with(" counter");
        } else if let Some(family) = families.last_mut() {
            family.samples.extend(line.strip_prefix(family.name.as_str()).and_then(parse_sample));
        }
    }
    families
}

/// `{label="value",…} 7`, or ` 7`.
fn parse_sample(text: &str) -> Option<Sample> {
    let (labels, value) = match text.strip_prefix('{') {
        None => (Vec::new(), text),
        Some(labels) => parse_labels(labels)?,
    };
    Some(Sample { labels, value: value.trim().parse().ok()? })
}

/// The labels, and what stands behind them.
fn parse_labels(mut text: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    loop {
        text = text.trim_start_matches(',');
        if let Some(rest) = text.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, rest) = text.split_once("=\"")?;
        let (value, rest) = unquote(rest)?;
        labels.push((name.to_owned(), value));
        text = rest;
    }
}

/// A text up to its closing quote, and what stands behind it.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::{Family, Sample, parse};

    #[test]
    fn families_samples_and_labels_are_read() {
        let text = "# HELP a_total What a is.\n# TYPE a_total counter\na_total 3\n\
            # HELP b Of b.\n# TYPE b gauge\nb{node=\"7\",name=\"x \\\"y\\\\ \\n,}\"} 0.5\nb{} -1\n";
        let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let a = Family {
            name: "a_total".to_owned(),
            help: "What a is.".to_owned(),
            is_counter: true,
            samples: vec![Sample { labels: vec![], value: 3.0 }],
        };
        let b = Family {
            name: "b".to_owned(),
            help: "Of b.".to_owned(),
            is_counter: false,
            samples: vec![
                Sample { labels: vec![label("node", "7"), label("name", "x \"y\\ \n,}")], value: 0.5 },
                Sample { labels: vec![], value: -1.0 },
            ],
        };
        assert_eq!(parse(text), [a, b]);
    }

    #[test]
    fn what_is_no_sample_is_left_out() {
        let text = "stray 1\n# HELP a A.\n# TYPE a gauge\na{b=\"1\"\na{b} 1\na x\nother 1\na 2\n";
        assert_eq!(parse(text)[0].samples, [Sample { labels: vec![], value: 2.0 }]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in any::<String>()) {
            let _ = parse(&text);
            let _ = parse(&format!("# HELP a A\na{{{text}"));
        }
    }
}
