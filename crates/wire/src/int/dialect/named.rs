//! Dialects: the deviations of one deployed implementation.

use crate::int::dialect::deviation::{Deviation, Deviations};
use crate::int::dscp_mark::DscpMark;
use crate::int::version::Version;

/// The INT of one deployed implementation, as a set of differences from a version of the specification.
///
/// | dialect | version | differs by | marked by |
/// | --- | --- | --- | --- |
/// | `geant` | 1.0 | timestamps of 64 bits, level 2 ports of 16, a packet number in the header | DSCP 0x20 |
/// | `geant` | 0.5 | Ver of 2 bits, timestamps of 64 bits | DSCP 0x20 |
/// | `onos` | 0.5 | Ver of 2 bits | DSCP bit 0x01 |
/// | `cablelabs` | 2.1 | D, E and M two bits lower | UDP port 555, NPT 2 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// GEANT int-platforms and Montimage.
    Geant,
    /// `fabric.p4` of ONOS.
    Onos,
    /// Transparent Security of CableLabs.
    Cablelabs,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 3] = [Self::Geant, Self::Onos, Self::Cablelabs];

    /// The name that users read and write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Geant => "geant",
            Self::Onos => "onos",
            Self::Cablelabs => "cablelabs",
        }
    }

    /// The versions in which the dialect exists, the usual one first.
    #[must_use]
    pub const fn versions(self) -> &'static [Version] {
        match self {
            Self::Geant => &[Version::V1_0, Version::V0_5],
            Self::Onos => &[Version::V0_5],
            Self::Cablelabs => &[Version::V2_1],
        }
    }

    /// The deviations of this dialect from `version`; none for versions it does not exist in.
    #[must_use]
    pub const fn deviations(self, version: Version) -> Deviations {
        match (self, version) {
            (Self::Geant, Version::V1_0) => Deviations::of(&[
                Deviation::WideTimestamps,
                Deviation::ShortLevel2Ports,
                Deviation::NumberInReserved,
            ]),
            (Self::Geant, Version::V0_5) => {
                Deviations::of(&[Deviation::ShortVersion, Deviation::WideTimestamps])
            }
            (Self::Onos, Version::V0_5) => Deviations::of(&[Deviation::ShortVersion]),
            (Self::Cablelabs, Version::V2_1) => Deviations::of(&[Deviation::LowFlags]),
            _ => Deviations::NONE,
        }
    }

    /// The DSCP that marks INT; `None` where a port marks it.
    #[must_use]
    pub const fn dscp(self) -> Option<DscpMark> {
        match self {
            Self::Geant => Some(DscpMark { value: 0x20, mask: 0x3f }),
            Self::Onos => Some(DscpMark { value: 0x01, mask: 0x01 }),
            Self::Cablelabs => None,
        }
    }

    /// The UDP destination port that marks INT; `None` where a DSCP marks it.
    #[must_use]
    pub const fn udp_port(self) -> Option<u16> {
        match self {
            Self::Geant | Self::Onos => None,
            Self::Cablelabs => Some(555),
        }
    }

    /// The UDP destination port of its reports; `None` when they have no fixed port.
    #[must_use]
    pub const fn report_port(self) -> Option<u16> {
        match self {
            Self::Geant | Self::Onos => None,
            Self::Cablelabs => Some(556),
        }
    }

    /// The deviation that this dialect's own mark is.
    pub(super) const fn mark(self) -> Deviation {
        match self {
            Self::Geant => Deviation::MarkOfGeant,
            Self::Onos => Deviation::MarkOfOnos,
            Self::Cablelabs => Deviation::PortOfCablelabs,
        }
    }
}

/// How closely INT must follow the formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reading {
    /// As specified.
    #[default]
    Strict,
    /// As specified, or as one implementation writes it.
    Of(Dialect),
    /// As [`Reading::Of`], but a header that fits several versions of the dialect is of this one, which the
    /// domain writes.
    OfVersion(Dialect, Version),
    /// As any known implementation writes it.
    Lenient,
}
