//! The deviations of deployed implementations from the formats.

/// One way in which implementations write INT differently from every specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deviation {
    /// 0.5: Ver has 2 bits, so Rep, C and E are where 2016 has them.
    ShortVersion,
    /// 0.5 and 1.0: timestamps have 64 bits.
    WideTimestamps,
    /// 1.0: level 2 ports have 16 bits each.
    ShortLevel2Ports,
    /// 1.0: the reserved half of the metadata header contains a packet number.
    NumberInReserved,
    /// 2.1: D, E and M are two bits below their places.
    LowFlags,
    /// 2.1: Length of the shim includes the shim.
    LengthCountsShim,
    /// 2.1: NPT is not 2 before an L4 header.
    OtherNextProtocolType,
    /// 2.1: the original IP protocol is in the third byte of the shim.
    ProtocolInThirdByte,
    /// 2.1: the original DSCP is in the upper six bits of the third byte of the shim.
    DscpInThirdByte,
    /// 2.1: the original DSCP is in the fourth byte of the shim, but not shifted.
    DscpUnshifted,
    /// 2.1: Ver of the INT header is 0.
    Version0,
    /// VXLAN-GPE: flags 0x18, without the bit that announces Next Protocol.
    VxlanFlags,
    /// The DSCP of GEANT, 0x20, marks INT.
    MarkOfGeant,
    /// The DSCP bit of ONOS, 0x01, marks INT.
    MarkOfOnos,
    /// The UDP port of CableLabs, 555, marks INT.
    PortOfCablelabs,
}

impl Deviation {
    /// All deviations, in display order.
    pub const ALL: [Self; 15] = [
        Self::MarkOfGeant,
        Self::MarkOfOnos,
        Self::PortOfCablelabs,
        Self::VxlanFlags,
        Self::LengthCountsShim,
        Self::OtherNextProtocolType,
        Self::ProtocolInThirdByte,
        Self::DscpInThirdByte,
        Self::DscpUnshifted,
        Self::Version0,
        Self::ShortVersion,
        Self::LowFlags,
        Self::NumberInReserved,
        Self::WideTimestamps,
        Self::ShortLevel2Ports,
    ];

    /// The deviation in words, for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ShortVersion => "version of 2 bits, so that Rep, C and E stand two bits higher",
            Self::WideTimestamps => "timestamps of 64 bits before 2.0",
            Self::ShortLevel2Ports => "level 2 interfaces of 16 bits",
            Self::NumberInReserved => "packet number in the reserved half of the metadata header",
            Self::LowFlags => "D, E and M two bits lower",
            Self::LengthCountsShim => "shim Length that counts the shim",
            Self::OtherNextProtocolType => "NPT other than 2 in front of an L4 header",
            Self::ProtocolInThirdByte => "original IP protocol in the third byte of the shim",
            Self::DscpInThirdByte => "original DSCP in the third byte of the shim",
            Self::DscpUnshifted => "original DSCP in the shim without its shift",
            Self::Version0 => "version 0 in an INT 2.1 header",
            Self::VxlanFlags => "VXLAN flags 0x18, which do not announce Next Protocol",
            Self::MarkOfGeant => "DSCP 0x20 as the mark of INT",
            Self::MarkOfOnos => "DSCP bit 0x01 as the mark of INT",
            Self::PortOfCablelabs => "UDP port 555 as the mark of INT",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of deviations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Deviations(u16);

impl Deviations {
    /// No deviation.
    pub const NONE: Self = Self(0);

    /// The deviations in `all`.
    #[must_use]
    pub const fn of(all: &[Deviation]) -> Self {
        let mut this = Self::NONE;
        let mut index = 0;
        while index < all.len() {
            this = this.with(all[index]);
            index += 1;
        }
        this
    }

    /// The set with `deviation` added.
    #[must_use]
    pub const fn with(self, deviation: Deviation) -> Self {
        Self(self.0 | deviation.bit())
    }

    /// The union of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set contains `deviation`.
    #[inline]
    #[must_use]
    pub const fn contains(self, deviation: Deviation) -> bool {
        self.0 & deviation.bit() != 0
    }

    /// Whether the set is empty.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The deviations in the set, in display order.
    pub fn iter(self) -> impl Iterator<Item = Deviation> {
        Deviation::ALL.into_iter().filter(move |deviation| self.contains(*deviation))
    }
}
