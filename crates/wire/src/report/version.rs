//! Versions of telemetry reports.

/// A version of the Telemetry Report specification, or Host-INT's variant of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReportVersion {
    /// Telemetry Report 0.5 of November 2017.
    V0_5,
    /// Host-INT's latency reports and drop summaries, which start like 0.5.
    HostInt,
    /// Telemetry Report 1.0 of April 2018.
    V1_0,
    /// Telemetry Report 2.0 of October 2020.
    #[default]
    V2_0,
}

impl ReportVersion {
    /// The name that users read and write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V0_5 => "0.5",
            Self::HostInt => "host-0.5",
            Self::V1_0 => "1.0",
            Self::V2_0 => "2.0",
        }
    }

    /// Width of the sequence number, bits; it wraps to 0.
    #[must_use]
    pub const fn sequence_bits(self) -> u32 {
        match self {
            Self::V0_5 | Self::HostInt | Self::V1_0 => 32,
            Self::V2_0 => 22,
        }
    }

    /// Width of the timestamps in a node's own metadata, bits; those of 32 bits wrap within 4.3 seconds.
    #[must_use]
    pub const fn timestamp_bits(self) -> u32 {
        match self {
            Self::V0_5 | Self::HostInt | Self::V1_0 => 32,
            Self::V2_0 => 64,
        }
    }
}
