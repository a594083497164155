use rustix::thread::CapabilitySet;

use super::look;
use crate::doctor::finding::Status;

#[test]
fn every_capability_that_is_needed_and_not_there_is_named() {
    let all = CapabilitySet::all();
    assert_eq!(look(0, all, "inband").status, Status::Ok);

    let finding = look(1000, all - CapabilitySet::PERFMON - CapabilitySet::BPF, "/usr/bin/inband");
    assert_eq!(
        (finding.status, finding.found.as_str()),
        (Status::Missing, "user 1000, without cap_bpf, cap_perfmon")
    );
    assert_eq!(finding.why, "cannot load programs; cannot hear of drops");
    assert_eq!(
        finding.fix,
        ["sudo setcap cap_bpf,cap_net_admin,cap_net_raw,cap_perfmon,cap_sys_admin+ep /usr/bin/inband"]
    );
    let without_use = all - CapabilitySet::CHOWN;
    assert_eq!(look(1000, without_use, "inband").status, Status::Ok);
}
