//! The topology file: hosts, switches, links, steps and expectations of a lab.

mod expect;
mod mistake;
mod step;
mod tables;

use serde::Deserialize;
use toml::{Spanned, Table, Value};

use crate::quantity::{Network, Rate, Span};

pub use expect::{Expect, PathExpectation};
pub use mistake::{Mistake, unknown};
pub use step::{Action, Command, DropReason, Fault, Step};

/// The contents of a topology file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// The lab's name, and the prefix of its namespaces' names.
    pub name: Spanned<String>,
    /// The collector, in a namespace of its own.
    #[serde(default)]
    pub collector: CollectorConfig,
    /// Settings common to all switches and to all hosts with INT.
    #[serde(default)]
    pub defaults: Defaults,
    /// The flow watchlist of every switch; default every flow.
    #[serde(default)]
    pub watch: Vec<Value>,
    /// The switches.
    #[serde(default, rename = "switch")]
    pub switches: Vec<SwitchConfig>,
    /// The hosts.
    #[serde(default, rename = "host")]
    pub hosts: Vec<HostConfig>,
    /// The links.
    #[serde(default, rename = "link")]
    pub links: Vec<LinkConfig>,
    /// The actions of `lab run`, and their times.
    #[serde(default, rename = "step")]
    pub steps: Vec<Step>,
    /// The expectations of `lab run`.
    #[serde(default, rename = "expect")]
    pub expectations: Vec<Expect>,
    /// The duration of `lab run`; default until the last step, and the last `by`.
    #[serde(default)]
    pub duration: Option<Span>,
}

/// `[collector]`: the collector; its other tables are those of `collector.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CollectorConfig {
    /// The address of its API outside of the lab; default 127.0.0.1:8080.
    pub api: Option<Spanned<String>>,
    /// `[store]`; default a folder that is removed with the lab.
    pub store: Option<Table>,
    /// `[ledger]`.
    pub ledger: Option<Table>,
    /// `[paths]`.
    pub paths: Option<Table>,
    /// `[ports]`.
    pub ports: Option<Table>,
    /// `[events]`.
    pub events: Option<Table>,
    /// `[receive]`, without `listen`.
    pub receive: Option<Table>,
}

impl CollectorConfig {
    /// The address of the API outside of the lab.
    #[must_use]
    pub fn api_address(&self) -> &str {
        self.api.as_ref().map_or(DEFAULT_API, |api| api.get_ref())
    }
}

/// `[defaults]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Defaults {
    /// `[defaults.switch]`: tables of `node.toml`.
    pub switch: SwitchTables,
    /// `[defaults.host]`: tables of `host.toml`, for hosts with INT.
    pub host: HostTables,
    /// `[defaults.link]`.
    pub link: LinkProperties,
}

tables::with_node_tables! {
    [switch: datapath, forwarding, io, xdp, metrics]
    /// `[defaults.switch]`: tables of `node.toml`.
    #[derive(Clone, Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct SwitchTables {}
}

tables::with_node_tables! {
    [host: metrics]
    /// `[defaults.host]`: tables of `host.toml`.
    #[derive(Clone, Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct HostTables {}
}

tables::with_node_tables! {
    [switch: datapath, forwarding, io, xdp, metrics]
    /// `[[switch]]`: a switch; its tables are those of `node.toml`, for this switch alone.
    #[derive(Clone, Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct SwitchConfig {
        /// Its name.
        pub name: Spanned<String>,
        /// Its Node ID; default the first free one.
        #[serde(default)]
        pub id: Option<Spanned<u32>>,
        /// Whether it does INT; `false`: only Linux forwards; default `true`.
        #[serde(default = "yes")]
        pub int: bool,
        /// Commands started with it.
        #[serde(default)]
        pub run: Vec<String>,
    }
}

tables::with_node_tables! {
    [host: metrics]
    /// `[[host]]`: a host; its tables are those of `host.toml`, for this host alone.
    #[derive(Clone, Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct HostConfig {
        /// Its name.
        pub name: Spanned<String>,
        /// Its address, or an IPv4 and an IPv6 address.
        pub address: Spanned<OneOrTwo<Network>>,
        /// The address of its router for each of its addresses; default the last of its network.
        #[serde(default)]
        pub gateway: Option<Spanned<OneOrTwo<std::net::IpAddr>>>,
        /// Whether `inband host` runs here; default `false`.
        #[serde(default)]
        pub int: bool,
        /// The Node ID of `inband host`; default the first free one.
        #[serde(default)]
        pub id: Option<Spanned<u32>>,
        /// Commands started with it.
        #[serde(default)]
        pub run: Vec<String>,
    }
}

/// `[[link]]`: a link between two hosts or switches.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Its ends, `name` or `name:interface id`.
    pub ends: Spanned<Vec<String>>,
    /// Bits per second, each way; default no limit.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// The one-way delay of a packet; default none.
    #[serde(default)]
    pub delay: Option<Span>,
    /// The share of packets that are lost, 0 to 1; default 0.
    #[serde(default)]
    pub loss: Option<Spanned<f64>>,
    /// Maximum bytes queued at each end if the rate is limited; default 1,000,000.
    #[serde(default)]
    pub queue_bytes: Option<u32>,
}

/// `[defaults.link]`: defaults of links.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkProperties {
    /// Bits per second, each way.
    pub rate: Option<Rate>,
    /// The one-way delay of a packet.
    pub delay: Option<Span>,
    /// The share of packets that are lost, 0 to 1.
    pub loss: Option<f64>,
    /// Maximum bytes queued at each end if the rate is limited.
    pub queue_bytes: Option<u32>,
}

/// A value, or a list of values.
#[derive(Clone, Debug)]
pub struct OneOrTwo<T>(pub Vec<T>);

impl<'de, T: std::str::FromStr<Err: std::fmt::Display>> Deserialize<'de> for OneOrTwo<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T>(std::marker::PhantomData<T>);

        impl<'de, T: std::str::FromStr<Err: std::fmt::Display>> serde::de::Visitor<'de> for Visitor<T> {
            type Value = OneOrTwo<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an address, or a list of one for IPv4 and one for IPv6")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                text.parse()
                    .map(|one| OneOrTwo(vec![one]))
                    .map_err(|error| E::custom(format!("{error}: `{text}`")))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(text) = items.next_element::<String>()? {
                    let one = text.parse();
                    all.push(one.map_err(|error| serde::de::Error::custom(format!("{error}: `{text}`")))?);
                }
                if !(1..=2).contains(&all.len()) {
                    return Err(serde::de::Error::custom("one or two addresses are needed"));
                }
                Ok(OneOrTwo(all))
            }
        }

        deserializer.deserialize_any(Visitor(std::marker::PhantomData))
    }
}

const fn yes() -> bool {
    true
}

const DEFAULT_API: &str = "127.0.0.1:8080";
