use inband_node::NodeConfig;
use inband_node::config::{Datapath, FrameIo, InterfaceConfig, ReportFilter, SwitchConfig, Xdp};

use super::{check, check_reload};

fn config() -> NodeConfig {
    let interface =
        |id: u16| InterfaceConfig { device: Some(format!("eth{id}")), ..InterfaceConfig::new(id) };
    NodeConfig { interfaces: vec![interface(1), interface(2)], ..NodeConfig::new(7) }
}

#[test]
fn what_cannot_change_while_a_switch_runs_is_named() {
    type Change = fn(&mut NodeConfig);
    let changes: [(&str, Change); 13] = [
        ("report", |config| config.report.collector.set_port(40_000)),
        ("source", |config| config.source.remaining_hops = 3),
        ("encapsulation", |config| config.encapsulation.udp_port = Some(40_001)),
        ("mtu", |config| config.mtu.icmp_per_second = 7),
        ("interface.0.accept_int", |config| config.interfaces[0].accept_int = Some(true)),
        ("interface.1.level2_id", |config| config.interfaces[1].level2_id = 9),
        ("interface.1.edge", |config| config.interfaces[1].edge = true),
        ("interface.1.mtu", |config| config.interfaces[1].mtu = 1_400),
        ("interface.0.device", |config| config.interfaces[0].device = Some("eth7".to_owned())),
        ("interface", |config| drop(config.interfaces.pop())),
        ("switch.metrics", |config| config.switch.metrics = "127.0.0.1:9100".to_owned()),
        ("switch.xdp", |config| config.switch.xdp = Xdp::Off),
        ("node.id", |config| config.node.id = 8),
    ];
    for (key, change) in changes {
        let mut new = config();
        change(&mut new);
        let error = check_reload(&config(), &new).map_err(|error| error.place());
        assert_eq!(error, Err(Some(key.to_owned())));
    }
}

#[test]
fn filters_rates_and_sizes_of_queues_can_change() {
    let mut new = config();
    new.report.filter = ReportFilter::Smart;
    new.interfaces[0].queue_bytes = 5_000;

    assert!(check_reload(&config(), &new).is_ok());
}

#[test]
fn metrics_are_served_at_an_address_and_a_port() {
    let mut wrong = config();
    wrong.switch.metrics = "9100".to_owned();

    assert_eq!(
        check(&wrong).map_err(|error| error.key().map(str::to_owned)),
        Err(Some("switch.metrics".to_owned()))
    );
}

#[test]
fn a_setting_of_the_other_datapath_is_a_mistake() {
    type Change = fn(&mut SwitchConfig);
    let changes: [(Change, &str); 3] = [
        (|switch| (switch.datapath, switch.xdp) = (Datapath::Engine, Xdp::Native), "switch.xdp"),
        (|switch| (switch.datapath, switch.xdp) = (Datapath::Engine, Xdp::Generic), "switch.xdp"),
        (|switch| (switch.datapath, switch.io) = (Datapath::Kernel, FrameIo::AfXdp), "switch.io"),
    ];
    for (change, key) in changes {
        let mut wrong = config();
        change(&mut wrong.switch);
        assert_eq!(check(&wrong).unwrap_err().key(), Some(key));
    }
    let mut right = config();
    (right.switch.datapath, right.switch.xdp) = (Datapath::Engine, Xdp::Off);
    assert!(check(&right).is_ok());
}

#[test]
fn a_mistake_of_an_interface_names_its_key_and_its_place() {
    type Change = fn(&mut InterfaceConfig);
    let changes: [(Change, &str, &str); 5] = [
        (
            |port| port.queue_bytes = 5,
            "interface.1.queue_bytes",
            "interface.queue_bytes is 5 for interface 2, expected at least 1600",
        ),
        (
            |port| port.priorities = 9,
            "interface.1.priorities",
            "interface.priorities is 9 for interface 2, expected 1 to 8",
        ),
        (
            |port| port.device = Some("eth1".into()),
            "interface.1.device",
            "interface.device `eth1` is given twice",
        ),
        (|port| port.id = 1, "interface.1.id", "interface.id 1 is given twice"),
        (|port| port.device = None, "interface.1", "interface 2 has no `device`"),
    ];
    for (change, place, message) in changes {
        let mut wrong = config();
        change(&mut wrong.interfaces[1]);
        let error = check(&wrong).unwrap_err();
        assert_eq!((error.place().as_deref(), error.to_string().as_str()), (Some(place), message));
    }
}
