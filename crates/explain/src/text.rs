//! Text form of descriptions: headers and hops indented.

mod block;
mod drops;
mod earlier_int;
mod earlier_report;
mod int;
mod metadata;
mod report;

use std::fmt;

pub use self::block::date;

use self::block::Block;
use crate::packet::Description;

impl fmt::Display for Description {
    /// Prints lines, each indented by at least one level and ended by a line feed.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut block = Block { out };
        match self {
            Self::Int(int) => int::write(int, &mut block),
            Self::Report(report) => report::write(report, &mut block),
            Self::Malformed { error, is_cut } => {
                block.line(1, format_args!("Malformed: {error}"))?;
                if *is_cut {
                    block.line(1, "The capture kept only the beginning of this packet")?;
                }
                Ok(())
            }
        }
    }
}
