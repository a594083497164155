//! The fields of a filter, and their values.

use inband_model::api::Span;

use inband_model::Names;
use inband_model::Prefix;

/// A field of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Source,
    Destination,
    Host,
    Protocol,
    SourcePort,
    DestinationPort,
    Port,
    Node,
    Hops,
    Latency,
    TotalLatency,
    Reports,
    Changes,
    Age,
    Complete,
}

/// The value that a field is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operand {
    Number(u64),
    Places(Vec<Prefix>),
    Flag(bool),
}

/// A comparison of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Place,
    Protocol,
    Node,
    Number,
    Time,
    Flag,
}

impl Field {
    /// Every field with its name and description.
    pub(super) const ALL: [(Self, &'static str, &'static str); 15] = [
        (Self::Source, "source", "source: address, prefix, or name of a host or subnet"),
        (Self::Destination, "destination", "destination: address, prefix, or name"),
        (Self::Host, "host", "source or destination"),
        (Self::Protocol, "protocol", "tcp, udp, icmp, or a number"),
        (Self::SourcePort, "source_port", "source port"),
        (Self::DestinationPort, "destination_port", "destination port"),
        (Self::Port, "port", "source or destination port"),
        (Self::Node, "node", "a node of the path: its id or its name"),
        (Self::Hops, "hops", "hops of the path"),
        (Self::Latency, "latency", "the longest hop latency, such as 1ms"),
        (Self::TotalLatency, "total_latency", "the sum of the hop latencies"),
        (Self::Reports, "reports", "individual reports"),
        (Self::Changes, "changes", "paths before the present one"),
        (Self::Age, "age", "time since the last report, such as 10s"),
        (Self::Complete, "complete", "whether all hops of the path were seen"),
    ];

    /// The field with a name.
    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| known.eq_ignore_ascii_case(name)).map(|(field, ..)| *field)
    }

    const fn kind(self) -> Kind {
        match self {
            Self::Source | Self::Destination | Self::Host => Kind::Place,
            Self::Protocol => Kind::Protocol,
            Self::Node => Kind::Node,
            Self::Latency | Self::TotalLatency | Self::Age => Kind::Time,
            Self::Complete => Kind::Flag,
            Self::SourcePort | Self::DestinationPort | Self::Port => Kind::Number,
            Self::Hops | Self::Reports | Self::Changes => Kind::Number,
        }
    }

    /// The comparisons that the field allows.
    pub(super) const fn comparisons(self) -> &'static [Comparison] {
        match self.kind() {
            Kind::Place | Kind::Protocol | Kind::Node | Kind::Flag => {
                &[Comparison::Equal, Comparison::NotEqual]
            }
            Kind::Number | Kind::Time => &Comparison::ALL,
        }
    }

    /// Parses a text as a value of the field.
    ///
    /// # Errors
    /// The text is invalid; contains what is expected.
    pub(super) fn operand(self, text: &str, names: &Names) -> Result<Operand, &'static str> {
        match self.kind() {
            Kind::Place => {
                let places = text.parse().map_or_else(|_| names.addresses(text), |prefix| vec![prefix]);
                let wrong = "an address, a prefix, or the name of a host or subnet";
                if places.is_empty() { Err(wrong) } else { Ok(Operand::Places(places)) }
            }
            Kind::Protocol => {
                let known = PROTOCOLS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
                let number = known.map(|(_, number)| *number).or_else(|| text.parse::<u8>().ok());
                number
                    .map(|number| Operand::Number(number.into()))
                    .ok_or("tcp, udp, icmp, or a number up to 255")
            }
            Kind::Node => {
                let node = text.parse::<u32>().ok().or_else(|| names.node_of(text).map(|node| node.0));
                node.map(|node| Operand::Number(node.into())).ok_or("the id or the name of a node")
            }
            Kind::Number => text.parse().map(Operand::Number).map_err(|_| "a whole number"),
            Kind::Time => match text {
                "0" => Ok(Operand::Number(0)),
                _ => Span::parse(text)
                    .map(|span| Operand::Number(span.0.0))
                    .ok_or("a time such as 100us or 1ms"),
            },
            Kind::Flag => text.parse().map(Operand::Flag).map_err(|_| "true or false"),
        }
    }

    /// Possible values, with their descriptions.
    pub(super) fn values(self, names: &Names) -> Vec<(String, String)> {
        let plain = |words: &[&str]| words.iter().map(|word| ((*word).to_owned(), String::new())).collect();
        match self.kind() {
            Kind::Place => {
                names.of_addresses().map(|name| (name.to_owned(), "by the names file".to_owned())).collect()
            }
            Kind::Node => {
                names.of_nodes().map(|(node, name)| (name.to_owned(), format!("node {node}"))).collect()
            }
            Kind::Protocol => {
                PROTOCOLS.iter().map(|(name, number)| ((*name).to_owned(), number.to_string())).collect()
            }
            Kind::Flag => plain(&["true", "false"]),
            Kind::Time => plain(&["10us", "100us", "1ms", "10ms", "1s"]),
            Kind::Number => Vec::new(),
        }
    }
}

impl Comparison {
    pub(super) const ALL: [Self; 6] =
        [Self::Equal, Self::NotEqual, Self::Less, Self::AtMost, Self::Greater, Self::AtLeast];

    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }

    pub(super) const fn holds(self, value: u64, wanted: u64) -> bool {
        match self {
            Self::Equal => value == wanted,
            Self::NotEqual => value != wanted,
            Self::Less => value < wanted,
            Self::AtMost => value <= wanted,
            Self::Greater => value > wanted,
            Self::AtLeast => value >= wanted,
        }
    }
}

const PROTOCOLS: [(&str, u8); 6] =
    [("tcp", 6), ("udp", 17), ("icmp", 1), ("icmp6", 58), ("gre", 47), ("sctp", 132)];
