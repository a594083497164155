//! Routing daemons (FRR) beside the switch's programs: Linux forwards by the daemons' routes.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use inband_linux::netlink::Netlink;
use inband_linux::route;

use crate::kernel::{assert_is_balanced, config};
use crate::world::{FIRST, SECOND, World, drops, outcome};

const FOLDER: &str = "/usr/lib/frr";
/// The longest wait for daemons to find each other.
const LONG: Duration = Duration::from_secs(90);

/// The daemons of one router and the folder of their files; they end when this is dropped.
struct Daemons {
    children: Vec<Child>,
    files: PathBuf,
}

impl Daemons {
    /// Starts OSPF on the interface `link` to the other router.
    fn start(world: &World, place: usize, link: &str, id: &str) -> Self {
        let files = std::env::temp_dir().join(world.name(place));
        std::fs::create_dir(&files).unwrap();
        // The daemons run as a different user.
        std::fs::set_permissions(&files, Permissions::from_mode(0o777)).unwrap();
        let ospf = format!(
            "interface {link}\n ip ospf network point-to-point\n ip ospf hello-interval 1\n \
             ip ospf dead-interval 4\n!\nrouter ospf\n ospf router-id {id}\n network 10.94.0.0/16 area 0\n!\n"
        );
        let mut daemons = Self { children: Vec::new(), files };
        daemons.run(world, place, "zebra", "");
        daemons.await_file("zserv");
        daemons.run(world, place, "ospfd", &ospf);
        daemons
    }

    /// Waits for a file that a daemon creates.
    fn await_file(&self, name: &str) {
        let since = Instant::now();
        while !self.files.join(name).exists() {
            assert!(since.elapsed() < LONG, "no {name}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn run(&mut self, world: &World, place: usize, name: &str, text: &str) {
        let file = |end: &str| self.files.join(format!("{name}.{end}")).to_str().unwrap().to_owned();
        let socket = self.files.join("zserv").to_str().unwrap().to_owned();
        std::fs::write(file("conf"), text).unwrap();
        let mut command = world.namespaces[place].command(&format!("{FOLDER}/{name}")).unwrap();
        command.args(["-f", &file("conf"), "-i", &file("pid"), "-z", &socket]);
        command.args(["-P", "0", "--vty_socket", self.files.to_str().unwrap()]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.children.push(child);
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = std::fs::remove_dir_all(&self.files);
    }
}

/// Waits until Linux has a route to the network.
fn await_route(world: &World, place: usize, destination: &str) {
    let since = Instant::now();
    let is_there = || {
        world.inside(place, || {
            let routes = route::all(&mut Netlink::open().unwrap()).unwrap();
            routes
                .iter()
                .any(|route| route.destination.to_string() == destination && route.prefix_length == 24)
        })
    };
    while !is_there() {
        assert!(since.elapsed() < LONG, "no route to {destination}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn linux_forwards_with_int_by_the_routes_of_frr() {
    let Some(world) = World::new() else { return };
    if !Path::new(FOLDER).join("ospfd").exists() {
        return eprintln!("skipped: FRR is not installed");
    }
    world.three_networks();
    for (place, destination) in [(FIRST, "10.94.3.0/24"), (SECOND, "10.94.1.0/24")] {
        assert!(world.run(place, "sysctl -q -w net.ipv4.ip_forward=1"));
        assert!(world.run(place, &format!("ip route del {destination}")));
    }
    let [first, second] = [(FIRST, 11, "left"), (SECOND, 12, "right")]
        .map(|(place, id, edge)| world.switch_of(place, &config(id, "dscp", &[edge], 1_900, "")));

    let daemons = [(FIRST, "right", "10.94.2.1"), (SECOND, "left", "10.94.2.2")]
        .map(|(place, link, id)| Daemons::start(&world, place, link, id));
    await_route(&world, FIRST, "10.94.3.0");
    await_route(&world, SECOND, "10.94.1.0");

    world.tcp("10.94.3.1", 300_000);
    world.udp("10.94.3.1", (0..1_400).step_by(101));

    drop(daemons);
    let (first, second) = (first.stop(), second.stop());
    assert!(outcome(&first, "started") > 50, "{first:?}");
    assert_eq!(outcome(&first, "started"), outcome(&second, "stripped"));
    for status in [&first, &second] {
        assert_eq!(drops(status), 0, "{status:?}");
        assert_is_balanced(status);
    }
}
