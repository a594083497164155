//! Changes to an unprivileged user once the ports are open.

use std::os::unix::fs::chown;
use std::path::Path;
use std::{fs, io};

use anyhow::{Context, Error, anyhow};
use inband_server::ProcessSettings;
use nix::unistd::{User, geteuid, initgroups, setgid, setuid};

use crate::failure::Failure;
use crate::note::note;

/// Becomes the configured user permanently, or prints a note when running as root without one. Creates the
/// directories first, owned by that user, who may not be permitted to.
///
/// # Errors
/// The user does not exist, or this process may not become it.
pub(super) fn drop(settings: &ProcessSettings, directories: &[&Path]) -> Result<(), Failure> {
    let name = settings.user.as_str();
    if name.is_empty() {
        if geteuid().is_root() {
            note!("note: this runs as root and need not; [process] user = \"NAME\" names a user to become");
        }
        return Ok(());
    }
    let unknown = || Failure::Usage(anyhow!("process.user = \"{name}\": there is no such user"));
    let user = User::from_name(name).context("cannot look up users")?.ok_or_else(unknown)?;
    if user.uid == geteuid() {
        return Ok(());
    }
    for directory in directories {
        make_for(&user, directory).with_context(|| format!("cannot make {}", directory.display()))?;
    }
    become_user(&user).with_context(|| format!("cannot become the user {name}"))?;
    note!("running as {name}");
    Ok(())
}

/// Creates a directory and its missing parents, owned by `user`; existing ones are left unchanged.
fn make_for(user: &User, directory: &Path) -> io::Result<()> {
    // The missing ones, innermost first.
    let missing: Vec<&Path> =
        directory.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    for path in missing.into_iter().rev() {
        fs::create_dir(path)?;
        chown(path, Some(user.uid.as_raw()), Some(user.gid.as_raw()))?;
    }
    Ok(())
}

fn become_user(user: &User) -> Result<(), Error> {
    let name = std::ffi::CString::new(user.name.as_str())?;
    // The user last: it drops the capabilities, after which the other calls would fail.
    initgroups(&name, user.gid)?;
    setgid(user.gid)?;
    setuid(user.uid)?;
    if setuid(0.into()).is_ok() {
        return Err(anyhow!("root can be had back"));
    }
    Ok(())
}
