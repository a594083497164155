//! Two switches on one device.

use inband_linux::device;
use inband_linux::netlink::Netlink;
use inband_node::NodeConfig;
use inband_switch::{LiveSwitch, SwitchError};

use crate::kernel::config;
use crate::world::{FIRST, SECOND, World};

#[test]
fn a_second_switch_on_a_device_is_refused_until_the_first_one_ends() {
    let Some(world) = World::new() else { return };
    let indexes = |place| {
        let index = |name| device::find(&mut Netlink::open().unwrap(), name).unwrap().unwrap().index;
        world.inside(place, || ["left", "right"].map(index))
    };
    assert_eq!(indexes(FIRST), indexes(SECOND), "they are those of a namespace");
    let switch =
        |datapath: &str| config(11, "dscp", &[], 2_000, &format!("[switch]\ndatapath = \"{datapath}\"\n"));
    for (first, second) in
        [("engine", "engine"), ("engine", "kernel"), ("kernel", "engine"), ("kernel", "kernel")]
    {
        let text = switch(second);
        let config: NodeConfig = toml::from_str(&text).unwrap();
        let start = |place| world.inside(place, || LiveSwitch::start(&config).map(drop));
        let running = world.switch_of(FIRST, &switch(first));

        let refused = start(FIRST);

        let error = refused.unwrap_err();
        assert!(matches!(&error, SwitchError::Claimed(device) if device == "left"), "{first}, {second}");
        assert_eq!(
            (error.to_string().as_str(), error.key()),
            ("another inband switch of this network namespace has the device left", None)
        );
        start(SECOND).unwrap();
        running.stop();
        start(FIRST).unwrap();
    }
}
