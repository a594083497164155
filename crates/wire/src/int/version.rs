//! Versions of INT.

/// A version of the INT specification that differs on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// INT of June 2016.
    V2016,
    /// INT 0.5 of December 2017.
    V0_5,
    /// Host-INT: INT 0.5 with a sequence number per flow.
    HostInt0_5,
    /// INT 1.0 of April 2018.
    V1_0,
    /// INT 2.1 of November 2020, and 2.0, whose headers are the same.
    #[default]
    V2_1,
}

impl Version {
    /// The name that users read and write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V2016 => "2016",
            Self::V0_5 => "0.5",
            Self::HostInt0_5 => "host-0.5",
            Self::V1_0 => "1.0",
            Self::V2_1 => "2.1",
        }
    }

    /// Whether the version has the 8-byte metadata header used before 2.0.
    #[must_use]
    pub const fn is_before_2(self) -> bool {
        !matches!(self, Self::V2_1)
    }

    /// Width of a hop's timestamps, bits; those narrower than 64 bits wrap within seconds.
    #[must_use]
    pub const fn timestamp_bits(self) -> u32 {
        match self {
            Self::V2016 => 31,
            Self::V0_5 | Self::HostInt0_5 | Self::V1_0 => 32,
            Self::V2_1 => 64,
        }
    }
}
