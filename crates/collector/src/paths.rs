//! Which paths do flows take?

mod clock;
mod conclusion;
mod links;
mod mark;
mod order;
mod postcards;
mod table;
mod topology;

pub use self::clock::ClockSettings;
pub(crate) use self::clock::Disagreement;
pub(crate) use self::conclusion::{Change, Conclusion, conclude};
pub(crate) use self::links::{LinkIndex, Links};
pub(crate) use self::mark::{Mark, Order};
pub(crate) use self::order::{Evidence, Ordered};
pub(crate) use self::postcards::{Postcard, Postcards, Put, Sighted};
pub(crate) use self::table::{PathIndex, PathTable};
pub use self::topology::GivenLink;
pub(crate) use self::topology::Topology;
