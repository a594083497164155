//! What errors say.

use std::io::{self, ErrorKind};

use super::SwitchError;

#[test]
fn the_place_of_a_key_has_the_position_of_its_entry() {
    let mistake = SwitchError::entry("interface.device", 1, "`eth1` is given twice");

    assert_eq!(mistake.to_string(), "interface.device `eth1` is given twice");
    assert_eq!(
        (mistake.key(), mistake.place()),
        (Some("interface.device"), Some("interface.1.device".into()))
    );
    assert_eq!(SwitchError::entry("interface", 2, "").place(), Some("interface.2".into()));
    assert_eq!(SwitchError::config("switch.io", "").place(), Some("switch.io".into()));
    assert_eq!(SwitchError::Claimed("eth1".into()).place(), None);
}

#[test]
fn a_system_s_error_is_told_once() {
    let error = SwitchError::system("list the devices")(ErrorKind::PermissionDenied.into());

    assert_eq!(error.words(), "cannot list the devices: permission denied");
    assert_eq!(error.to_string(), "cannot list the devices", "an outer error adds the cause");
}

#[test]
fn a_missing_privilege_is_recognised_below_other_errors() {
    let system = |reason| SwitchError::system("load a program")(reason);
    let denied = || io::Error::from(ErrorKind::PermissionDenied);

    assert!(system(denied()).is_forbidden());
    assert!(system(io::Error::other(LoadError(denied()))).is_forbidden());
    assert!(!system(ErrorKind::NotFound.into()).is_forbidden());
    assert!(!SwitchError::config("switch.io", "").is_forbidden());
}

/// An error with a cause, like those of the loader.
#[derive(Debug, thiserror::Error)]
#[error("the program could not be loaded")]
struct LoadError(#[source] io::Error);
