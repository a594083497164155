//! Path ids: distinct for different paths, and stable.

use super::{Path, PathId};
use crate::{Hop, NodeId};

#[test]
fn id_is_the_same_in_every_run() {
    // Stored history is queried by path id, so this number may not change.
    let path = Path::new(&[hop(1, 2, 3), hop(11, 4, 5), hop(2, 6, 7)]);

    assert_eq!(path.id().to_string(), "8b1ad4586d900106");
}

#[test]
fn id_depends_on_the_order_of_the_hops() {
    let there = Path::new(&[hop(1, 0, 0), hop(2, 0, 0)]);
    let back = Path::new(&[hop(2, 0, 0), hop(1, 0, 0)]);

    assert_ne!(there.id(), back.id());
}

#[test]
fn id_depends_on_each_part_of_a_hop_and_on_their_number() {
    let hops = [hop(1, 2, 3), hop(9, 2, 3), hop(1, 9, 3), hop(1, 2, 9)];
    let mut ids: Vec<PathId> = hops.iter().map(|hop| PathId::of(&[*hop])).collect();
    ids.push(PathId::of(&[]));
    ids.push(PathId::of(&[hop(1, 2, 3), hop(1, 2, 3)]));
    ids.push(PathId::of(&[Hop { node_id: NodeId(1), ..Hop::default() }]));
    let count = ids.len();

    ids.sort_unstable();
    ids.dedup();

    assert_eq!(ids.len(), count);
}

#[test]
fn text_shows_interfaces_where_they_are_known() {
    let path = Path::new(&[hop(1, 2, 3), Hop { node_id: NodeId(11), ..Hop::default() }]);

    assert_eq!(path.to_string(), "2:1:3 > 11");
    let silent = Hop { node_id: NodeId::NOT_AVAILABLE, ..Hop::default() };
    assert_eq!(Path::new(&[silent]).to_string(), "?");
}

#[test]
fn json_is_the_list_of_hops() {
    let path = Path::new(&[Hop { egress_interface: None, ..hop(1, 2, 0) }]);

    let json = serde_json::to_string(&path).unwrap();

    assert_eq!(json, r#"[{"node_id":1,"ingress_interface":2,"egress_interface":null}]"#);
    assert_eq!(serde_json::from_str::<Path>(&json).unwrap(), path);
}

fn hop(node_id: u32, ingress: u16, egress: u16) -> Hop {
    Hop { node_id: NodeId(node_id), ingress_interface: Some(ingress), egress_interface: Some(egress) }
}
