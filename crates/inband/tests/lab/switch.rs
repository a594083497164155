//! `inband switch` as a process.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use inband_linux::device;
use inband_linux::namespace::{self, Namespace};
use inband_linux::netlink::Netlink;
use inband_linux::veth::{self, End};
use serde_json::Value;

use crate::json;

/// A namespace with two devices whose other ends are in it as well; removed when this is dropped.
struct Place {
    name: String,
    namespace: Namespace,
}

impl Place {
    /// `None`, with a message, where this user may not.
    fn new(test: &str) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root creates network namespaces");
            return None;
        }
        let name = format!("inbp{}-{test}", std::process::id());
        let namespace = Namespace::create(&name).unwrap();
        for (near, far) in [("eth1", "far1"), ("eth2", "far2")] {
            veth::create(&mut Netlink::open().unwrap(), [near, far].map(|name| End::new(name, &namespace)))
                .unwrap();
        }
        let place = Self { name, namespace };
        for device in ["eth1", "far1", "eth2", "far2"] {
            let index = place.index(device);
            place.inside(|netlink| device::set_up(netlink, index, true).unwrap());
        }
        Some(place)
    }

    fn inside<T: Send>(&self, work: impl FnOnce(&mut Netlink) -> T + Send) -> T {
        self.namespace.inside(|| work(&mut Netlink::open().unwrap())).unwrap()
    }

    fn index(&self, device: &str) -> u32 {
        self.inside(|netlink| device::find(netlink, device).unwrap().unwrap().index)
    }

    /// Starts a switch between the devices; returns when it has printed its first state.
    fn switch(&self, datapath: &str) -> (Child, BufReader<impl Read>) {
        let file = std::env::temp_dir().join(format!("{}.toml", self.name));
        let text = format!(
            "node.id = 1\nswitch.datapath = \"{datapath}\"\n[[interface]]\nid = 1\ndevice = \"eth1\"\n\
             [[interface]]\nid = 2\ndevice = \"eth2\"\n"
        );
        std::fs::write(&file, text).unwrap();
        let mut command = self.namespace.command(env!("CARGO_BIN_EXE_inband")).unwrap();
        command.args(["switch", "--json", "-c", file.to_str().unwrap()]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut states = BufReader::new(child.stdout.take().unwrap());
        states.read_line(&mut String::new()).unwrap();
        std::fs::remove_file(file).unwrap();
        (child, states)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = namespace::delete(&self.name);
    }
}

#[test]
fn a_switch_that_an_error_ends_prints_its_last_state() {
    let Some(place) = Place::new("error") else { return };
    let (mut child, states) = place.switch("kernel");

    // The device that leads to the engine.
    place.inside(|netlink| {
        let all = device::all(netlink).unwrap();
        let own = all.iter().find(|device| device.name.starts_with("inbsw")).unwrap();
        device::delete(netlink, own.index).unwrap();
    });

    let states: Vec<String> = states.lines().map(Result::unwrap).collect();
    let code = child.wait().unwrap().code();
    let mut messages = String::new();
    child.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
    assert_eq!(code, Some(1), "{messages}");
    assert!(messages.contains("cannot receive frames of the programs"), "{messages}");
    let last: Value = json(states.last().expect("a last state"));
    assert_eq!(last["interfaces"][0]["device"], "eth1");
}

#[test]
fn a_second_switch_on_a_device_exits_with_1_and_names_it() {
    let Some(place) = Place::new("second") else { return };
    let (mut first, _states) = place.switch("engine");

    let (mut second, _) = place.switch("kernel");

    assert_eq!(second.wait().unwrap().code(), Some(1));
    let mut messages = String::new();
    second.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
    assert!(
        messages.contains("another inband switch of this network namespace has the device eth1"),
        "{messages}"
    );
    // A killed one leaves nothing.
    first.kill().unwrap();
    first.wait().unwrap();
    let (mut third, mut states) = place.switch("kernel");
    let mut state = String::new();
    states.read_line(&mut state).unwrap();
    assert_eq!(json(&state)["io"], "kernel");
    third.kill().unwrap();
    third.wait().unwrap();
}
