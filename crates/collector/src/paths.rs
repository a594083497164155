//! Which paths do flows take?

mod clock;
mod links;
mod order;
mod postcards;
mod table;

pub use self::clock::ClockSettings;
pub(crate) use self::clock::Disagreement;
pub(crate) use self::links::{LinkIndex, Links};
pub(crate) use self::order::order;
pub(crate) use self::postcards::{Postcard, Postcards, Put};
pub(crate) use self::table::{PathIndex, PathTable};
