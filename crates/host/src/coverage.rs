//! The part of a flow's packets that INT covers.

use serde::Deserialize;

/// Which packets of a watched flow get INT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coverage {
    /// One packet in each `interval_us`, of a super-packet of TCP the first segment; always the first of a
    /// flow.
    #[default]
    Slices,
    /// Every packet that has room for it.
    All,
}
