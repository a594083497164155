//! The paths that flows take.

mod conclusion;
mod links;
mod mark;
mod order;
mod postcards;
mod settings;
mod table;
mod topology;

pub(crate) use self::conclusion::{Change, Conclusion, conclude};
pub(crate) use self::links::{LinkIndex, Links, link_key};
pub(crate) use self::mark::{Mark, Order};
pub(crate) use self::order::{Evidence, Ordered};
pub(crate) use self::postcards::{Postcard, Postcards, Put, Sighted};
pub(crate) use self::settings::EPOCHS;
pub use self::settings::{EdgeInterface, PathSettings};
pub(crate) use self::table::{PathIndex, PathTable};
pub(crate) use self::topology::Topology;
