//! The tables of `node.toml` and `host.toml` that a topology passes on.

/// Adds the tables of `node.toml` and `host.toml` to a struct, each optional: `[switch]` or `[host]`, some of
/// its keys without their table, and the tables that both files may have. Serde's `flatten` could, too, but
/// cannot name unknown keys.
macro_rules! with_node_tables {
    (
        [$own:ident: $($key:ident),+]
        $(#[$outer:meta])* pub struct $name:ident { $($(#[$inner:meta])* pub $field:ident: $kind:ty,)* }
    ) => {
        $(#[$outer])*
        pub struct $name {
            $($(#[$inner])* pub $field: $kind,)*
            $(
                #[doc = concat!("`", stringify!($key), "` of `[", stringify!($own), "]`.")]
                #[serde(default)]
                pub $key: Option<String>,
            )+
            #[doc = concat!("`[", stringify!($own), "]`.")]
            #[serde(default)]
            pub $own: Option<Table>,
            /// `[node]`, without `id`.
            #[serde(default)]
            pub node: Option<Spanned<Table>>,
            /// `[[interface]]`: added to the interface with the same `id`; without `id`, to all.
            #[serde(default)]
            pub interface: Vec<Spanned<Table>>,
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
            /// `[offline]`.
            #[serde(default)]
            pub offline: Option<Table>,
        }

        impl $name {
            /// The tables that are present, except `[[interface]]`, as in `node.toml`.
            #[must_use]
            pub fn tables(&self) -> Table {
                let mut tables = Table::new();
                let single = [
                    ("node", self.node.as_ref().map(Spanned::get_ref)),
                    (stringify!($own), self.$own.as_ref()),
                    ("encapsulation", self.encapsulation.as_ref()),
                    ("source", self.source.as_ref()),
                    ("sink", self.sink.as_ref()),
                    ("mtu", self.mtu.as_ref()),
                    ("checksum", self.checksum.as_ref()),
                    ("report", self.report.as_ref()),
                    ("smart", self.smart.as_ref()),
                    ("loss", self.loss.as_ref()),
                    ("drop_reasons", self.drop_reasons.as_ref()),
                    ("offline", self.offline.as_ref()),
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
                let keys = [$((stringify!($key), &self.$key)),+];
                for (key, value) in keys.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?))) {
                    let own = tables.entry(stringify!($own)).or_insert_with(|| Value::Table(Table::new()));
                    if let Value::Table(own) = own {
                        own.insert(key.to_owned(), Value::String(value.clone()));
                    }
                }
                tables
            }
        }
    };
}

pub(super) use with_node_tables;
