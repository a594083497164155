//! Which paths do flows take?

mod links;
mod order;
mod postcards;
mod table;

pub(crate) use self::links::Links;
pub(crate) use self::order::order;
pub(crate) use self::postcards::{Postcard, Postcards, Put};
pub(crate) use self::table::{PathIndex, PathTable};
