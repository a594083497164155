use std::io::{self, ErrorKind};
use std::path::Path;

use super::{amount, buffer, free_bytes, judge_disk, port, segments};
use crate::doctor::finding::Status;

#[test]
fn a_small_buffer_can_be_made_larger() {
    assert_eq!(buffer(64 << 20, Some(64 << 20)).status, Status::Ok);
    let small = buffer((64 << 20) - 1, None);
    assert_eq!(
        (small.status, small.fix),
        (Status::Degraded, vec!["sudo sysctl -w net.core.rmem_max=67108864".into()])
    );
}

#[test]
fn a_buffer_that_a_privilege_grants_beyond_the_limit_is_no_fault() {
    let forced = buffer(64 << 20, Some(212_992));
    assert_eq!(
        (forced.status, forced.found.as_str()),
        (Status::Ok, "64 MB, beyond net.core.rmem_max (208 kB)")
    );
}

#[test]
fn a_port_in_use_may_be_our_own() {
    let status = |kind: ErrorKind| port(Err(kind.into())).status;
    assert_eq!(port(Ok(())).status, Status::Ok);
    assert_eq!(status(ErrorKind::AddrInUse), Status::Degraded);
    assert_eq!(status(ErrorKind::PermissionDenied), Status::Missing);
    assert_eq!(segments(Err(ErrorKind::InvalidInput.into())).status, Status::Degraded);
}

#[test]
fn a_disk_has_room_for_history_or_not() {
    let status = |bytes| judge_disk(Path::new("data"), Ok(bytes)).status;
    assert_eq!([status(1 << 30), status((1 << 30) - 1)], [Status::Ok, Status::Degraded]);
    assert_eq!([status(64 << 20), status((64 << 20) - 1)], [Status::Degraded, Status::Missing]);
    assert_eq!(
        judge_disk(Path::new("data"), Err(io::Error::from(ErrorKind::NotFound))).status,
        Status::Degraded
    );
}

#[test]
fn a_directory_that_is_not_there_is_on_the_disk_of_the_nearest_that_is() {
    let here = free_bytes(Path::new(".")).unwrap();
    assert!(here > 0);
    assert!(free_bytes(Path::new("not/there")).is_ok() && free_bytes(Path::new("/not/there")).is_ok());
}

#[test]
fn amounts_have_the_unit_that_fits() {
    let cases = [(212_992, "208 kB"), (4 << 20, "4 MB"), ((1 << 30) - 1, "1023 MB"), (30 << 30, "30 GB")];
    for (bytes, text) in cases {
        assert_eq!(amount(bytes), text);
    }
}
