//! Settings unsupported by a dialect are rejected by key, with the supported values.
#![allow(clippy::unwrap_used, reason = "a configuration error fails the test")]

use crate::config::{DialectName, EncapsulationKind, IntVersion, Mode, NodeConfig};

use super::check;

fn config(dialect: DialectName) -> NodeConfig {
    let mut config = NodeConfig::new(1);
    config.encapsulation.dialect = Some(dialect);
    config
}

fn refusal(config: &NodeConfig) -> (String, String) {
    let error = check(config).unwrap_err();
    (error.key().to_owned(), error.to_string())
}

#[test]
fn a_dialect_brings_its_version_its_encapsulation_and_its_mark() {
    let brought = |dialect| {
        let config = config(dialect);
        assert_eq!(check(&config), Ok(()));
        let encapsulation = &config.encapsulation;
        let mark = encapsulation.mark();
        (config.int_version(), encapsulation.kind(), mark.value, mark.mask, encapsulation.udp_port())
    };
    let geant = (IntVersion::V1_0, EncapsulationKind::Dscp, 0x20, 0x3f, 33122);
    assert_eq!(brought(DialectName::Geant), geant);
    assert_eq!(brought(DialectName::Onos), (IntVersion::V0_5, EncapsulationKind::Dscp, 0x01, 0x01, 33122));
    let cablelabs = (IntVersion::V2_1, EncapsulationKind::Udp, 0x17, 0x3f, 555);
    assert_eq!(brought(DialectName::Cablelabs), cablelabs);
}

#[test]
fn what_is_given_wins_over_the_dialect() {
    let mut config = config(DialectName::Geant);
    config.node.int_version = Some(IntVersion::V0_5);
    (config.encapsulation.dscp, config.encapsulation.udp_port) = (Some(0x17), Some(7));
    assert_eq!(check(&config), Ok(()));
    let encapsulation = &config.encapsulation;
    assert_eq!((config.int_version(), encapsulation.mark().value), (IntVersion::V0_5, 0x17));
    assert_eq!(encapsulation.udp_port(), 7);
}

#[test]
fn another_version_is_refused() {
    let versions =
        [IntVersion::V2_1, IntVersion::V1_0, IntVersion::V0_5, IntVersion::Host0_5, IntVersion::V2016];
    for dialect in [DialectName::Geant, DialectName::Onos, DialectName::Cablelabs] {
        for version in versions {
            let mut config = config(dialect);
            config.node.int_version = Some(version);
            let exists = dialect.wire().versions().contains(&version.wire());
            assert_eq!(check(&config).is_ok(), exists, "{dialect:?} {version:?}");
        }
    }
    let mut config = config(DialectName::Geant);
    config.node.int_version = Some(IntVersion::V2_1);
    let message = "node.int_version = \"2.1\" is not supported by this node; supported: \"1.0\", \"0.5\" with \
                   dialect = \"geant\"";
    assert_eq!(refusal(&config), ("node.int_version".to_owned(), message.to_owned()));
}

#[test]
fn another_encapsulation_is_refused() {
    for (dialect, kind, supported) in [
        (DialectName::Geant, EncapsulationKind::Geneve, "\"dscp\" with dialect = \"geant\""),
        (DialectName::Onos, EncapsulationKind::UdpPort, "\"dscp\" with dialect = \"onos\""),
        (DialectName::Cablelabs, EncapsulationKind::Dscp, "\"udp\" with dialect = \"cablelabs\""),
    ] {
        let mut config = config(dialect);
        config.encapsulation.kind = Some(kind);
        let (key, message) = refusal(&config);
        assert_eq!(key, "encapsulation.kind");
        assert!(message.ends_with(supported), "{message}");
    }
}

#[test]
fn mx_is_refused_and_xd_is_not() {
    for dialect in [DialectName::Geant, DialectName::Onos, DialectName::Cablelabs] {
        let mut config = config(dialect);
        config.source.mode = Mode::Mx;
        assert_eq!(refusal(&config).0, "source.mode");
        config.source.mode = Mode::Xd;
        assert_eq!(check(&config), Ok(()));
    }
}
