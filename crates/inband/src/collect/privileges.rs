//! As which user does the collector run once its ports are open?

use anyhow::{Context, Error, anyhow};
use inband_server::ProcessSettings;
use nix::unistd::{User, geteuid, initgroups, setgid, setuid};

use crate::failure::Failure;

/// Becomes the user of the settings for good; says so where root is root to the end.
///
/// # Errors
/// A user that does not exist, or that this one may not become.
pub(super) fn drop(settings: &ProcessSettings) -> Result<(), Failure> {
    let name = settings.user.as_str();
    if name.is_empty() {
        if geteuid().is_root() {
            eprintln!(
                "note: this runs as root and need not; [process] user = \"NAME\" names a user to become"
            );
        }
        return Ok(());
    }
    let unknown = || Failure::Usage(anyhow!("process.user = \"{name}\": there is no such user"));
    let user = User::from_name(name).context("cannot look up users")?.ok_or_else(unknown)?;
    if user.uid == geteuid() {
        return Ok(());
    }
    become_user(&user).with_context(|| format!("cannot become the user {name}"))?;
    eprintln!("running as {name}");
    Ok(())
}

fn become_user(user: &User) -> Result<(), Error> {
    let name = std::ffi::CString::new(user.name.as_str())?;
    // The user last: afterwards nothing of this may be done any more. It takes the capabilities with it.
    initgroups(&name, user.gid)?;
    setgid(user.gid)?;
    setuid(user.uid)?;
    if setuid(0.into()).is_ok() {
        return Err(anyhow!("root can be had back"));
    }
    Ok(())
}
