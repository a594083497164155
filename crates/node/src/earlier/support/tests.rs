//! Settings unsupported by a version are rejected by key.
#![allow(clippy::unwrap_used, reason = "a configuration error fails the test")]

use super::{check, encapsulations};
use crate::config::{EncapsulationKind, IntVersion, Mode, NodeConfig, Replicate, SourceDomain};

const KINDS: [EncapsulationKind; 7] = [
    EncapsulationKind::Dscp,
    EncapsulationKind::UdpPort,
    EncapsulationKind::Udp,
    EncapsulationKind::ProbeMarker,
    EncapsulationKind::Gre,
    EncapsulationKind::VxlanGpe,
    EncapsulationKind::Geneve,
];
const VERSIONS: [IntVersion; 5] =
    [IntVersion::V2_1, IntVersion::V1_0, IntVersion::V0_5, IntVersion::Host0_5, IntVersion::V2016];

fn config(version: IntVersion, kind: EncapsulationKind) -> NodeConfig {
    let mut config = NodeConfig::new(1);
    config.node.int_version = Some(version);
    config.encapsulation.kind = Some(kind);
    config
}

#[test]
fn a_version_is_written_in_the_encapsulations_it_has() {
    for version in VERSIONS {
        for kind in KINDS {
            let found = check(&config(version, kind)).is_ok();
            assert_eq!(found, encapsulations(version.wire()).contains(&kind), "{version:?} {kind:?}");
        }
    }
    let count = VERSIONS.map(|version| encapsulations(version.wire()).len());
    assert_eq!(count, [7, 4, 4, 2, 2]);
}

#[test]
fn a_node_that_writes_nothing_reads_every_encapsulation() {
    for version in VERSIONS {
        for kind in KINDS {
            let mut config = config(version, kind);
            config.source.mode = Mode::Xd;
            assert!(check(&config).is_ok());
        }
    }
}

#[test]
fn the_message_names_what_is_possible() {
    let error = check(&config(IntVersion::V0_5, EncapsulationKind::Gre)).unwrap_err();
    assert_eq!(error.key(), "encapsulation.kind");
    assert_eq!(
        error.to_string(),
        "encapsulation.kind = \"gre\" is not supported by this node; supported: \"dscp\", \"udp-port\", \
         \"vxlan-gpe\", \"geneve\" with int_version = \"0.5\""
    );
}

#[test]
fn what_came_with_2_0_is_refused_before_it() {
    let refused = |change: fn(&mut NodeConfig)| {
        let mut config = config(IntVersion::V0_5, EncapsulationKind::Dscp);
        change(&mut config);
        check(&config).unwrap_err().key().to_owned()
    };
    assert_eq!(refused(|config| config.source.mode = Mode::Mx), "source.mode");
    assert_eq!(refused(|config| config.source.discard = true), "source.discard");
    assert_eq!(refused(|config| config.source.clone = 2), "source.clone");
    assert_eq!(refused(|config| config.source.domain = Some(SourceDomain::default())), "source.domain");
    let mut of_2_1 = config(IntVersion::V2_1, EncapsulationKind::Dscp);
    of_2_1.source.replicate = Replicate::Port;
    let error = check(&of_2_1).unwrap_err();
    assert_eq!(error.key(), "source.replicate");
    assert!(error.to_string().contains("\"port\""), "{error}");
    let mut host_int = config(IntVersion::Host0_5, EncapsulationKind::Udp);
    host_int.source.own_metadata = false;
    assert_eq!(check(&host_int).unwrap_err().key(), "source.own_metadata");
}
