//! A decoded packet contains every value that its builder labelled.

mod int;
mod report;

use serde_json::Value;

/// A part of a packet, with its builder's label.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) label: String,
    pub(crate) bytes: Vec<u8>,
}

/// Compares a line of `decode --json` with the parts of the packet, in their order.
///
/// # Panics
/// At the first value that differs, and at a label without a rule.
pub(crate) fn check(line: &Value, segments: &[Segment]) {
    let mut reader = Reader { line, holder: line, reports: 0, headers: 0, destination: String::new() };
    for segment in segments {
        reader.check(segment);
    }
}

/// Walks through the parts and the decoded line together.
struct Reader<'a> {
    line: &'a Value,
    /// What contains the current INT headers: the line, or a report in it.
    holder: &'a Value,
    /// Reports so far.
    reports: usize,
    /// INT headers of the holder so far.
    headers: usize,
    /// The contents of the current destination header, hexadecimal.
    destination: String,
}

impl<'a> Reader<'a> {
    fn check(&mut self, segment: &Segment) {
        let Segment { label, bytes } = segment;
        match label.as_str() {
            "Ethernet" | "UDP" | "TCP" | "payload" | "inner Ethernet" | "inner IPv4" => {}
            "IPv4" => self.check_addresses(bytes),
            "VXLAN-GPE" => self.expect_encapsulation("vxlan-gpe"),
            "Geneve" => self.expect_encapsulation("geneve"),
            "GRE" => self.expect_encapsulation("gre"),
            label if label.starts_with("802.1Q") || label.starts_with("truncated") => {}
            label if report::check(self, label, bytes) || int::check(self, label, bytes) => {}
            label => panic!("no rule for the label {label}"),
        }
    }

    /// The addresses of a packet that is not in a tunnel are those of its flow.
    fn check_addresses(&self, bytes: &[u8]) {
        let plain = ["dscp", "udp"].iter().any(|name| self.line["encapsulation"] == *name);
        if self.line["kind"] == "int" && plain {
            check_flow(&self.line["flow"], bytes);
        }
    }

    fn expect_encapsulation(&self, name: &str) {
        assert_eq!(self.line["encapsulation"], name);
    }

    /// The current INT header.
    fn header(&self) -> &'a Value {
        &self.holder["int"][self.headers - 1]
    }
}

fn check_flow(flow: &Value, ip: &[u8]) {
    let address = |at: usize| ip[at..at + 4].iter().map(u8::to_string).collect::<Vec<_>>().join(".");
    assert_eq!(
        (&flow["source"], &flow["destination"]),
        (&Value::from(address(12)), &Value::from(address(16)))
    );
}

/// An unsigned field of 1 to 8 bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
