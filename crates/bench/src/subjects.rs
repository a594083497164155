//! The subjects of the measurements.

pub(crate) mod decode;
pub(crate) mod etherparse;
pub(crate) mod ledger;
pub(crate) mod memmove;
pub(crate) mod role;
pub(crate) mod smart;
pub(crate) mod watchlist;
