//! The tables of `node.toml` and `host.toml` that a topology passes on.

/// Adds the tables of `node.toml` and `host.toml` to a struct, each optional, and the keys of `[switch]`
/// without their table. Serde's `flatten` could, too, but cannot name unknown keys.
macro_rules! with_node_tables {
    ($(#[$outer:meta])* pub struct $name:ident { $($(#[$inner:meta])* pub $field:ident: $kind:ty,)* }) => {
        $(#[$outer])*
        pub struct $name {
            $($(#[$inner])* pub $field: $kind,)*
            /// `datapath` of `[switch]`.
            #[serde(default)]
            pub datapath: Option<String>,
            /// `forwarding` of `[switch]`.
            #[serde(default)]
            pub forwarding: Option<String>,
            /// `io` of `[switch]`.
            #[serde(default)]
            pub io: Option<String>,
            /// `xdp` of `[switch]`.
            #[serde(default)]
            pub xdp: Option<String>,
            /// `metrics` of `[switch]` and `[host]`.
            #[serde(default)]
            pub metrics: Option<String>,
            /// `[node]`.
            #[serde(default)]
            pub node: Option<Table>,
            /// `[switch]`.
            #[serde(default)]
            pub switch: Option<Table>,
            /// `[host]`.
            #[serde(default)]
            pub host: Option<Table>,
            /// `[[interface]]`: added to the interface with the same `id`; without `id`, to all.
            #[serde(default)]
            pub interface: Vec<Table>,
            /// `[[peer]]`.
            #[serde(default)]
            pub peer: Vec<Value>,
            /// `[[static]]`.
            #[serde(default, rename = "static")]
            pub static_routes: Vec<Value>,
            /// `[encapsulation]`.
            #[serde(default)]
            pub encapsulation: Option<Table>,
            /// `[source]`.
            #[serde(default)]
            pub source: Option<Table>,
            /// `[[watch]]`.
            #[serde(default)]
            pub watch: Vec<Value>,
            /// `[[probe]]`.
            #[serde(default)]
            pub probe: Vec<Value>,
            /// `[[domain]]`.
            #[serde(default)]
            pub domain: Vec<Value>,
            /// `[sink]`.
            #[serde(default)]
            pub sink: Option<Table>,
            /// `[mtu]`.
            #[serde(default)]
            pub mtu: Option<Table>,
            /// `[checksum]`.
            #[serde(default)]
            pub checksum: Option<Table>,
            /// `[report]`.
            #[serde(default)]
            pub report: Option<Table>,
            /// `[smart]`.
            #[serde(default)]
            pub smart: Option<Table>,
            /// `[loss]`.
            #[serde(default)]
            pub loss: Option<Table>,
            /// `[drop_reasons]`.
            #[serde(default)]
            pub drop_reasons: Option<Table>,
        }

        impl $name {
            /// The tables that are present, except `[[interface]]`, as in `node.toml`.
            #[must_use]
            pub fn tables(&self) -> Table {
                let mut tables = Table::new();
                let single = [
                    ("node", &self.node),
                    ("switch", &self.switch),
                    ("host", &self.host),
                    ("encapsulation", &self.encapsulation),
                    ("source", &self.source),
                    ("sink", &self.sink),
                    ("mtu", &self.mtu),
                    ("checksum", &self.checksum),
                    ("report", &self.report),
                    ("smart", &self.smart),
                    ("loss", &self.loss),
                    ("drop_reasons", &self.drop_reasons),
                ];
                for (name, table) in single {
                    if let Some(table) = table {
                        tables.insert(name.to_owned(), Value::Table(table.clone()));
                    }
                }
                let lists = [
                    ("peer", &self.peer),
                    ("static", &self.static_routes),
                    ("watch", &self.watch),
                    ("probe", &self.probe),
                    ("domain", &self.domain),
                ];
                for (name, list) in lists {
                    if !list.is_empty() {
                        tables.insert(name.to_owned(), Value::Array(list.clone()));
                    }
                }
                let keys = [
                    ("datapath", &self.datapath),
                    ("forwarding", &self.forwarding),
                    ("io", &self.io),
                    ("xdp", &self.xdp),
                    ("metrics", &self.metrics),
                ];
                for (key, value) in keys {
                    let (Some(value), Value::Table(switch)) = (
                        value,
                        tables.entry("switch").or_insert_with(|| Value::Table(Table::new())),
                    ) else {
                        continue;
                    };
                    switch.insert(key.to_owned(), Value::String(value.clone()));
                }
                tables
            }
        }
    };
}

pub(super) use with_node_tables;
