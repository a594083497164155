//! Changes of a lab whose kernel refuses something.

use std::sync::atomic::AtomicBool;

use inband_linux::device;
use inband_linux::namespace::Namespace;
use inband_linux::netlink::Netlink;

use super::{Lab, State, down, world};
use crate::error::LabError;
use crate::topology::{Action, Fault};

const TRIANGLE: &str = r#"
name = "NAME"
switch = [{ name = "r1", int = false }, { name = "r2", int = false }, { name = "r3", int = false }]
host = [{ name = "h1", address = "10.0.1.1/24" }, { name = "h2", address = "10.0.2.1/24" }]
link = [
    { ends = ["h1", "r1"] },
    { ends = ["h2", "r2"] },
    { ends = ["r1", "r2"] },
    { ends = ["r2", "r3:1"] },
    { ends = ["r3", "r1"] },
]
"#;

/// A lab without programs; dropping it removes it.
struct World(Lab);

impl World {
    fn new(name: &str) -> Option<(Self, State)> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root creates network namespaces");
            return None;
        }
        let text = TRIANGLE.replace("NAME", &format!("inbf{}{name}", std::process::id()));
        let world = Self(Lab::new(toml::from_str(&text).unwrap(), &text).unwrap());
        let mut state = State::create(&world.0.plan.name).unwrap();
        state.facts.namespaces = world::namespaces(&world.0.plan);
        state.save().unwrap();
        world::create(&world.0.plan, &AtomicBool::new(false)).unwrap();
        Some((world, state))
    }

    fn set_up(&self, router: &str, name: &str, up: bool) {
        self.inside(router, |netlink| {
            let index = device::find(netlink, name).unwrap().unwrap().index;
            device::set_up(netlink, index, up).unwrap();
        });
    }

    fn is_running(&self, router: &str, name: &str) -> bool {
        self.inside(router, |netlink| device::find(netlink, name).unwrap().unwrap().is_running)
    }

    fn inside<T: Send>(&self, router: &str, work: impl FnOnce(&mut Netlink) -> T + Send) -> T {
        let namespace = Namespace::open(&self.0.plan.namespace(router)).unwrap();
        namespace.inside(|| work(&mut Netlink::open().unwrap())).unwrap()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = down(&self.0.plan.name);
    }
}

#[test]
fn a_change_that_fails_leaves_devices_and_faults_as_they_were() {
    let Some((world, mut state)) = World::new("a") else { return };
    let fault = Action::Fault(Fault::Break { a: "r1".into(), b: "r2".into() });
    // The only other way of r2 to h1.
    world.set_up("r2", "eth3", false);

    let failed = world.0.change(&mut state, &fault);

    assert!(matches!(failed, Err(LabError::Kernel { .. })), "{failed:?}");
    assert!(state.facts.faults.is_empty(), "{:?}", state.facts.faults);
    assert!(world.is_running("r1", "eth2") && world.is_running("r2", "eth2"));
    world.set_up("r2", "eth3", true);
    world.0.change(&mut state, &fault).unwrap();
    assert!(!world.is_running("r1", "eth2"));
    world.0.change(&mut state, &Action::Mend(vec!["r1".into(), "r2".into()])).unwrap();
    assert!(world.is_running("r1", "eth2") && state.facts.faults.is_empty());
}

#[test]
fn an_up_that_is_stopped_removes_what_it_has_created() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root creates network namespaces");
    }
    let name = format!("inbf{}b", std::process::id());
    let api = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let text = format!("collector.api = \"{api}\"\n{}", TRIANGLE.replace("NAME", &name));
    let lab = Lab::new(toml::from_str(&text).unwrap(), &text).unwrap();

    let stopped = lab.up(&AtomicBool::new(true), |_| {});

    assert!(matches!(stopped, Err(LabError::Stopped)), "{stopped:?}");
    assert!(!crate::state::folder(&name).exists());
    let names = inband_linux::namespace::names().unwrap();
    assert!(!names.iter().any(|other| other.starts_with(&name)), "{names:?}");
}
