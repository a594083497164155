//! The Debian package is built from this tree, and leaves nothing when it is purged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::agent::Agent;
use crate::pins::BpfFs;
use crate::traffic::exchange_udp;
use crate::world::{A4, B4, Offloads, Place, World};

#[test]
fn a_package_that_is_purged_leaves_nothing() {
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        eprintln!("skipped: `dpkg-deb` is not installed");
        return;
    }
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let domain = bpf_fs.domain();
    let (package, root) = (world.folder.join("inband.deb"), world.folder.join("root"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/debian/package");
    let mut command = Command::new(script);
    command.env("DPKG_DEB_COMPRESSOR_TYPE", "none").arg(env!("CARGO_BIN_EXE_inband")).arg(&package);
    let made = command.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    fs::create_dir_all(root.join("var/lib/dpkg/info")).unwrap();
    fs::create_dir_all(root.join("var/lib/dpkg/updates")).unwrap();
    fs::write(root.join("var/lib/dpkg/status"), "").unwrap();
    let before = files(&root);
    let install = ["--force-depends", "--install", package.to_str().unwrap()];
    dpkg(&world, &root, &install);
    let unit = fs::read_to_string(root.join("usr/lib/systemd/system/inband-host.service")).unwrap();
    assert!(unit.contains("ExecStart=/usr/bin/inband host -c /etc/inband/host.toml"), "{unit}");
    fs::write(root.join("etc/inband/host.toml"), domain.settings(Place::B)).unwrap();

    // An agent that is killed leaves a sink and a shim.
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    exchange_udp(&world, A4, B4, [100]);
    b.kill();
    assert!(bpf_fs.namespaces() > 1 && world.links(Place::B).contains("int0"));
    // An upgrade leaves both to the next agent.
    dpkg(&world, &root, &["--force-depends", "--force-confold", "--install", package.to_str().unwrap()]);
    assert!(bpf_fs.namespaces() > 1 && world.links(Place::B).contains("int0"));

    drop(a.stop());
    dpkg(&world, &root, &["--purge", "inband"]);
    assert!(!world.links(Place::B).contains("int0"), "{}", world.links(Place::B));
    let left: Vec<_> = files(&root).into_iter().filter(|path| !before.contains(path)).collect();
    assert!(left.is_empty(), "{left:?}");
    crate::pins::remove(&world, Place::A);
    assert!(bpf_fs.is_clean(), "no pins, and no folder for them");
}

/// Runs dpkg for packages below `root`, with its scripts in B's namespace.
fn dpkg(world: &World, root: &Path, arguments: &[&str]) {
    let mut command = world.enter(Place::B, "dpkg");
    command.arg(format!("--root={}", root.display())).args(["--force-script-chrootless"]).args(arguments);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {text}");
}

/// Every file and folder below `root` that is not of dpkg itself.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.ends_with("var/lib/dpkg") {
                continue;
            }
            if path.is_dir() {
                folders.push(path.clone());
            }
            found.push(path);
        }
    }
    found
}
