//! The container image is built from this tree, and its entry point does INT in a network namespace.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::traffic::{bytes, deliver, udp_pair};
use crate::world::{A4, B4, Offloads, Place, World};

/// Enters a container as an engine does: its own root, with the kernel's file systems in it.
const ENTER: &str = "mount --rbind /sys \"$0/sys\" && mount --rbind /dev \"$0/dev\" && mount -t proc proc \"$0/proc\" && exec chroot \"$0\" \"$@\"";

#[test]
fn the_entry_point_of_the_image_does_int() {
    let Some(world) = World::new(Offloads::On) else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kubernetes/image");
    let (image, root) = (world.folder.join("inband.tar"), world.folder.join("root"));
    let made = Command::new(script).arg(env!("CARGO_BIN_EXE_inband")).arg(&image).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    unpack(&world, &image);
    let config: Value =
        serde_json::from_slice(&std::fs::read(world.folder.join("config.json")).unwrap()).unwrap();
    let entry: Vec<_> = [&config["config"]["Entrypoint"], &config["config"]["Cmd"]]
        .into_iter()
        .flat_map(|words| words.as_array().unwrap())
        .map(|word| word.as_str().unwrap().to_owned())
        .collect();
    let domain = Domain::new("dscp", "md");
    std::fs::write(root.join("etc/inband/host.toml"), domain.settings(Place::A)).unwrap();
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };

    let mut command = world.enter(Place::A, "unshare");
    let mut child = command
        .args(["--mount", "sh", "-c", ENTER])
        .arg(&root)
        .args(&entry)
        .arg("--json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut messages = BufReader::new(child.stderr.take().unwrap());
    let mut message = String::new();
    while !message.contains("INT on ab") {
        message.clear();
        assert!(messages.read_line(&mut message).unwrap() > 0, "the entry point has ended");
    }
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    (0..20).for_each(|length| deliver(&at_a, &at_b, &bytes(length, 3)));

    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success(), "{text}");
    let a: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&a["outcomes"]["started"], &b.stop()["outcomes"]["stripped"]),
        (&20.into(), &20.into()),
        "{a}"
    );
    // The sink stays, because a peer needs no lease.
    let removed =
        world.enter(Place::A, env!("CARGO_BIN_EXE_inband")).args(["host", "remove"]).output().unwrap();
    assert!(removed.status.success(), "{}", String::from_utf8_lossy(&removed.stderr));
}

/// Unpacks an image of one layer as an engine does.
fn unpack(world: &World, image: &Path) {
    let root = world.folder.join("root");
    std::fs::create_dir(&root).unwrap();
    let tar = |archive: &Path, folder: &Path| {
        let done = Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(folder).status().unwrap();
        assert!(done.success(), "{}", archive.display());
    };
    tar(image, &world.folder);
    tar(&world.folder.join("layer.tar"), &root);
}
