use inband_collector::GivenLink;
use inband_model::NodeId;

use super::{NameList, Names};

fn names() -> Names {
    let text = r#"
        [[node]]
        id = 5
        name = "leaf1"
        [[interface]]
        node = 5
        id = 2
        name = "5/0"
        to = "spine1"
        [[host]]
        address = "10.0.1.1"
        name = "web"
        [[subnet]]
        prefix = "10.0.1.7/24"
        name = "rack 1"
        [[subnet]]
        prefix = "10.0.0.0/8"
        name = "site"
        [[subnet]]
        prefix = "fd00::/16"
        name = "six"
    "#;
    Names::new(toml::from_str::<NameList>(text).unwrap())
}

#[test]
fn an_address_is_its_host_or_its_smallest_subnet() {
    let names = names();
    let name = |address: &str| names.address(address.parse().unwrap()).map(str::to_owned);
    for (address, expected) in [
        ("10.0.1.1", Some("web")),
        ("::ffff:10.0.1.1", Some("web")),
        ("10.0.1.2", Some("rack 1")),
        ("10.0.2.1", Some("site")),
        ("fd00:1::1", Some("six")),
        ("192.0.2.1", None),
        ("fe80::1", None),
    ] {
        assert_eq!(name(address).as_deref(), expected, "{address}");
    }
}

#[test]
fn the_key_of_an_event_is_told_in_names() {
    let names = names();
    for (key, expected) in [
        ("node 5 egress 2 queue 0", "leaf1 egress 5/0 queue 0"),
        ("node 5 egress 3", "leaf1 egress 3"),
        ("node 6 egress 2", "node 6 egress 2"),
        ("node 5 to node 6", "leaf1 to node 6"),
        ("tcp 10.0.1.1:80 > 10.0.1.2:90", "tcp 10.0.1.1:80 > 10.0.1.2:90"),
        ("", ""),
        ("node", "node"),
    ] {
        assert_eq!(names.key(key), expected);
    }
}

#[test]
fn an_interface_needs_a_number() {
    let names = names();
    assert_eq!(names.interface(NodeId(5), Some(2)).unwrap().to.as_deref(), Some("spine1"));
    assert_eq!(names.interface(NodeId(5), None), None);
}

#[test]
fn interfaces_that_lead_to_nodes_are_links() {
    let text = r#"
        node = [{ id = 5, name = "leaf1" }, { id = 7, name = "spine1" }, { id = 8, name = "same" }, { id = 9, name = "same" }]
        interface = [
            { node = 5, id = 2, name = "a", to = "spine1" },
            { node = 7, id = 3, name = "b", to = "leaf1" },
            { node = 5, id = 4, name = "c", to = "web" },
            { node = 5, id = 6, name = "d", to = "same" },
            { node = 5, id = 8, name = "e" },
        ]
    "#;
    let mut links = Names::new(toml::from_str::<NameList>(text).unwrap()).links();
    links.sort_by_key(|link| link.node);

    let link = |node, interface, to, back| GivenLink { node, interface, to, to_interface: Some(back) };
    assert_eq!(links, [link(5, 2, 7, 3), link(7, 3, 5, 2)]);
}

#[test]
fn of_several_links_between_two_nodes_the_other_ends_are_not_known() {
    let text = r#"
        node = [{ id = 5, name = "leaf1" }, { id = 7, name = "spine1" }]
        interface = [
            { node = 5, id = 2, name = "a", to = "spine1" },
            { node = 5, id = 3, name = "b", to = "spine1" },
            { node = 7, id = 4, name = "c", to = "leaf1" },
        ]
    "#;
    let links = Names::new(toml::from_str::<NameList>(text).unwrap()).links();

    assert_eq!((links.len(), links.iter().all(|link| link.to_interface.is_none())), (3, true));
}
