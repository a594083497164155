use super::{dropped, judge};
use crate::doctor::finding::Status;

const TWO_PROCESSORS: &str = "030291f1 000000f8 0000001b 00000000\n0110e6f0 000002f3 00000005 00000000\n";

#[test]
fn drops_of_all_processors_are_added() {
    assert_eq!(dropped(TWO_PROCESSORS), Some(0xf8 + 0x2f3));
    assert_eq!(dropped("00000001\n"), None, "a kernel that counts something else");
}

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
