//! Entries of a names file whose node, interface, host or subnet another entry names too.

use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;

use crate::names::{HostName, NameList, SubnetName};

/// Something that two entries name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    /// The table of the entries: `node`, `interface`, `host` or `subnet`.
    pub table: &'static str,
    /// What they name, such as `7`, or `1 of node 7`.
    pub what: String,
}

impl fmt::Display for Repeated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[[{}]] {}", self.table, self.what)
    }
}

impl NameList {
    /// The first thing that two entries name; `None` if there is none.
    #[must_use]
    pub fn repeated(&self) -> Option<Repeated> {
        self.clone().keep_last().into_iter().next()
    }

    /// Keeps of several entries for one thing the last; returns these things, once for each dropped entry.
    pub fn keep_last(&mut self) -> Vec<Repeated> {
        let mut dropped = keep_last("node", &mut self.nodes, |node| node.id, u32::to_string);
        let interface = |(node, id): &(u32, u16)| format!("{id} of node {node}");
        dropped.extend(keep_last("interface", &mut self.interfaces, |one| (one.node, one.id), interface));
        let address = |host: &HostName| host.address.to_canonical();
        dropped.extend(keep_last("host", &mut self.hosts, address, ToString::to_string));
        let network = |subnet: &SubnetName| subnet.prefix.network();
        dropped.extend(keep_last("subnet", &mut self.subnets, network, ToString::to_string));
        dropped
    }
}

/// Keeps the last of the entries with equal keys; their order stays.
fn keep_last<T, K: Hash + Eq>(
    table: &'static str,
    entries: &mut Vec<T>,
    key: impl Fn(&T) -> K,
    show: impl Fn(&K) -> String,
) -> Vec<Repeated> {
    let (mut seen, mut dropped) = (HashSet::new(), Vec::new());
    entries.reverse();
    entries.retain(|entry| {
        let key = key(entry);
        let what = show(&key);
        let is_new = seen.insert(key);
        if !is_new {
            dropped.push(Repeated { table, what });
        }
        is_new
    });
    entries.reverse();
    dropped.reverse();
    dropped
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::names::NameList;

    #[test]
    fn of_entries_for_one_thing_the_last_is_kept() {
        let twice = json!({
            "node": [{ "id": 1, "name": "a" }, { "id": 2 }, { "id": 1, "name": "b" }],
            "interface": [
                { "node": 1, "id": 2, "name": "x" }, { "node": 2, "id": 2, "name": "x" },
                { "node": 1, "id": 2, "name": "y" },
            ],
            "host": [
                { "address": "10.0.0.1", "name": "x" }, { "address": "::ffff:10.0.0.1", "name": "y" },
            ],
            "subnet": [{ "prefix": "10.0.0.0/8", "name": "x" }, { "prefix": "10.1.0.0/8", "name": "y" }],
        });
        let mut list: NameList = serde_json::from_value(twice).unwrap();
        assert_eq!(list.repeated().unwrap().to_string(), "[[node]] 1");

        let dropped: Vec<_> = list.keep_last().iter().map(ToString::to_string).collect();

        let expected =
            ["[[node]] 1", "[[interface]] 2 of node 1", "[[host]] 10.0.0.1", "[[subnet]] 10.0.0.0/8"];
        assert_eq!(dropped, expected);
        assert_eq!(list.repeated(), None);
        let nodes: Vec<_> = list.nodes.iter().map(|node| (node.id, node.name.as_str())).collect();
        assert_eq!(nodes, [(2, ""), (1, "b")]);
        assert_eq!((list.hosts.len(), list.hosts[0].name.as_str()), (1, "y"));
    }
}
