//! A cache of decisions by destination, for destinations where all flows take the same path.

use std::hash::{Hash, Hasher};
use std::net::IpAddr;

use super::decision::Rewrite;
use crate::hash::QuickHasher;

/// A cache of decisions by destination: each destination has one slot, which the latest takes.
#[derive(Debug)]
pub(super) struct Recent(Vec<Option<Way>>);

#[derive(Clone, Copy, Debug)]
struct Way {
    destination: IpAddr,
    port: usize,
    rewrite: Rewrite,
}

/// Number of cached destinations.
const PLACES: usize = 1_024;

impl Default for Recent {
    fn default() -> Self {
        Self(vec![None; PLACES])
    }
}

impl Recent {
    /// The port, and the addresses a router sets; `None`: not cached.
    pub(super) fn get(&self, destination: IpAddr) -> Option<(usize, Rewrite)> {
        let way = self.0.get(place(destination))?.filter(|way| way.destination == destination)?;
        Some((way.port, way.rewrite))
    }

    pub(super) fn put(&mut self, destination: IpAddr, port: usize, rewrite: Rewrite) {
        if let Some(place) = self.0.get_mut(place(destination)) {
            *place = Some(Way { destination, port, rewrite });
        }
    }

    pub(super) fn forget(&mut self) {
        self.0.fill(None);
    }
}

fn place(destination: IpAddr) -> usize {
    let mut hasher = QuickHasher::default();
    match destination {
        IpAddr::V4(address) => address.to_bits().hash(&mut hasher),
        IpAddr::V6(address) => address.to_bits().hash(&mut hasher),
    }
    usize::try_from(hasher.finish() >> 32).unwrap_or_default() % PLACES
}
