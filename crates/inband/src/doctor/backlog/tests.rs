use super::judge;
use crate::doctor::finding::Status;

#[test]
fn a_backlog_that_never_overflowed_is_ok_and_another_is_to_be_doubled_at_least() {
    assert_eq!(judge(0, Some(1_000)).status, Status::Ok);
    let small = judge(1, Some(1_000));
    assert_eq!(
        (small.status, small.fix),
        (Status::Degraded, vec!["sudo sysctl -w net.core.netdev_max_backlog=16384".into()])
    );
    let large = judge(1, Some(16_384));
    assert_eq!(large.fix, ["sudo sysctl -w net.core.netdev_max_backlog=32768"]);
}
