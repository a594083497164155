//! The links between nodes, learned from paths.

use hashbrown::HashMap;
use inband_model::api::LinkView;
use inband_model::{Hop, LinkEnds, Nanos, NodeId};

/// The links of the topology, learned from paths, up to a configured maximum.
#[derive(Debug)]
pub(crate) struct Links {
    links: Vec<LinkState>,
    index: HashMap<Link, LinkIndex>,
    capacity: usize,
    unlearned: u64,
    /// Places that were released.
    free: Vec<LinkIndex>,
    /// When there is next a search for places to release; `None`: there has been room.
    search_at: Option<Nanos>,
    /// The interface at the other end of each interface of a certain link, in and against the direction of
    /// packets; `None` where there are several, as behind a bridge.
    ahead: HashMap<Port, Option<Port>>,
    behind: HashMap<Port, Option<Port>>,
}

/// An interface of a node.
type Port = (NodeId, u16);

/// Index of a link in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LinkIndex(pub(crate) usize);

/// The state of a link.
#[derive(Debug)]
struct LinkState {
    link: Link,
    first_seen: Nanos,
    seen_at: Nanos,
    /// Whether it is certain that there is no other node between its ends.
    is_certain: bool,
    /// Whether its place is free.
    is_released: bool,
}

/// How long a link has been silent that is released for others.
const SILENT: Nanos = Nanos::from_secs(300);
/// How often there is a search for such links.
const SEARCH_EVERY: Nanos = Nanos::from_secs(10);

/// A link, in the direction packets take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Link {
    from: NodeId,
    egress_interface: Option<u16>,
    to: NodeId,
    ingress_interface: Option<u16>,
}

impl Links {
    pub(crate) fn new(capacity: usize) -> Links {
        Links {
            links: Vec::new(),
            index: HashMap::new(),
            capacity,
            unlearned: 0,
            free: Vec::new(),
            search_at: None,
            ahead: HashMap::new(),
            behind: HashMap::new(),
        }
    }

    /// Records that packets take the link from one hop to the other; `None` when there is no room for the
    /// link.
    pub(crate) fn learn(&mut self, now: Nanos, from: &Hop, to: &Hop) -> Option<LinkIndex> {
        let link = Link::between(from, to);
        if let Some(index) = self.index.get(&link) {
            self.links[index.0].seen_at = now;
            return Some(*index);
        }
        let state = LinkState { link, first_seen: now, seen_at: now, is_certain: false, is_released: false };
        let index = if let Some(index) = self.free.pop() {
            self.links[index.0] = state;
            index
        } else if self.links.len() < self.capacity {
            self.links.push(state);
            LinkIndex(self.links.len() - 1)
        } else {
            self.unlearned += 1;
            self.search_at.get_or_insert(now);
            return None;
        };
        self.index.insert(link, index);
        Some(index)
    }

    /// Whether it is time to release links for others that found no room.
    #[inline]
    pub(crate) fn is_search_due(&self, now: Nanos) -> bool {
        self.search_at.is_some_and(|at| at <= now)
    }

    /// Releases the silent links but those of `used`, by place: paths in use refer to these.
    pub(crate) fn release_silent(&mut self, now: Nanos, used: &[bool]) -> Vec<LinkIndex> {
        let is_used = |place: usize| used.get(place).copied().unwrap_or(false);
        let is_silent = |state: &LinkState| !state.is_released && now.since(state.seen_at) >= SILENT;
        let places = self.links.iter().enumerate();
        let gone: Vec<LinkIndex> = places
            .filter(|(place, state)| !is_used(*place) && is_silent(state))
            .map(|(place, _)| LinkIndex(place))
            .collect();
        self.search_at = if gone.is_empty() { Some(now + SEARCH_EVERY) } else { None };
        for index in &gone {
            let state = &mut self.links[index.0];
            state.is_released = true;
            let Link { from, egress_interface, to, ingress_interface } = state.link;
            self.index.remove(&state.link);
            // What is known of its ends is learned again.
            egress_interface.map(|egress| self.ahead.remove(&(from, egress)));
            ingress_interface.map(|ingress| self.behind.remove(&(to, ingress)));
        }
        self.free.extend(&gone);
        gone
    }

    /// Records that there is no other node between the ends of a link.
    pub(crate) fn make_certain(&mut self, index: LinkIndex) {
        let state = &mut self.links[index.0];
        state.is_certain = true;
        let Link { from, egress_interface, to, ingress_interface } = state.link;
        if let (Some(egress), Some(ingress)) = (egress_interface, ingress_interface) {
            let (from, to) = ((from, egress), (to, ingress));
            let keep_only = |known: &mut Option<Port>, port| *known = known.filter(|known| *known == port);
            self.ahead.entry(from).and_modify(|known| keep_only(known, to)).or_insert(Some(to));
            self.behind.entry(to).and_modify(|known| keep_only(known, from)).or_insert(Some(from));
        }
    }

    /// Whether paths have shown that packets leaving `from`, or reaching `to`, take other links.
    pub(crate) fn contradict(&self, from: &Hop, to: &Hop) -> bool {
        let port = |node_id, interface: Option<u16>| interface.map(|interface| (node_id, interface));
        let (egress, ingress) =
            (port(from.node_id, from.egress_interface), port(to.node_id, to.ingress_interface));
        let leads =
            |ends: &HashMap<Port, Option<Port>>, at: Option<Port>| at.and_then(|at| *ends.get(&at)?);
        leads(&self.ahead, egress).is_some_and(|known| Some(known) != ingress)
            || leads(&self.behind, ingress).is_some_and(|known| Some(known) != egress)
    }

    /// Whether paths have shown that packets leaving a hop reach another node.
    pub(crate) fn go_on(&self, hop: &Hop) -> bool {
        hop.egress_interface.is_some_and(|egress| self.ahead.contains_key(&(hop.node_id, egress)))
    }

    /// Whether paths have shown that packets reaching a hop come from another node.
    pub(crate) fn come_from(&self, hop: &Hop) -> bool {
        hop.ingress_interface.is_some_and(|ingress| self.behind.contains_key(&(hop.node_id, ingress)))
    }

    /// Whether packets certainly go straight from one hop to the other, by interfaces that both reported.
    pub(crate) fn connect(&self, from: &Hop, to: &Hop) -> bool {
        if from.egress_interface.is_none() || to.ingress_interface.is_none() {
            return false;
        }
        self.index.get(&Link::between(from, to)).is_some_and(|index| self.links[index.0].is_certain)
    }

    pub(crate) fn touch(&mut self, now: Nanos, link: LinkIndex) {
        self.links[link.0].seen_at = now;
    }

    /// When a path over the link was last reported.
    pub(crate) fn seen_at(&self, link: LinkIndex) -> Nanos {
        self.links[link.0].seen_at
    }

    /// The nodes and interfaces at the ends of a link.
    pub(crate) fn ends(&self, index: LinkIndex) -> LinkEnds {
        let Link { from, egress_interface, to, ingress_interface } = self.links[index.0].link;
        LinkEnds { from, egress_interface, to, ingress_interface }
    }

    /// The link from one hop to the other, if it is known.
    pub(crate) fn find(&self, from: &Hop, to: &Hop) -> Option<LinkIndex> {
        self.index.get(&Link::between(from, to)).copied()
    }

    /// The link in the other direction, if it is known.
    pub(crate) fn back(&self, index: LinkIndex) -> Option<LinkIndex> {
        let link = self.links[index.0].link;
        let back = Link {
            from: link.to,
            egress_interface: link.ingress_interface,
            to: link.from,
            ingress_interface: link.egress_interface,
        };
        self.index.get(&back).copied()
    }

    /// The links as users see them, in no order, without the values from clocks.
    pub(crate) fn views(&self) -> impl Iterator<Item = (LinkIndex, LinkView)> {
        let known = self.links.iter().enumerate().filter(|(_, state)| !state.is_released);
        known.map(|(index, state)| {
            let view = LinkView {
                latency: None,
                clock_uncertainty: None,
                from: state.link.from,
                egress_interface: state.link.egress_interface,
                to: state.link.to,
                ingress_interface: state.link.ingress_interface,
                certain: state.is_certain,
                first_seen: state.first_seen,
                last_seen: state.seen_at,
            };
            (LinkIndex(index), view)
        })
    }

    /// Links there was no room for.
    pub(crate) fn unlearned(&self) -> u64 {
        self.unlearned
    }
}

impl Link {
    fn between(from: &Hop, to: &Hop) -> Link {
        Link {
            from: from.node_id,
            egress_interface: from.egress_interface,
            to: to.node_id,
            ingress_interface: to.ingress_interface,
        }
    }
}

/// The link in the keys of events.
pub(crate) fn link_key(ends: &LinkEnds) -> String {
    let text = |id: Option<u16>| id.map_or("?".to_owned(), |id| id.to_string());
    let (egress, ingress) = (text(ends.egress_interface), text(ends.ingress_interface));
    format!("node {} egress {egress} to node {} ingress {ingress}", ends.from, ends.to)
}

#[cfg(test)]
mod tests {
    use inband_model::{Hop, Nanos, NodeId};

    use super::Links;

    fn hop(node_id: u32) -> Hop {
        Hop { node_id: NodeId(node_id), ingress_interface: Some(1), egress_interface: Some(2) }
    }

    #[test]
    fn silent_links_that_no_path_uses_make_room() {
        let mut links = Links::new(2);
        let learn = |links: &mut Links, at: u64, from: u32| {
            links.learn(Nanos::from_secs(at), &hop(from), &hop(from + 1))
        };
        let (first, second) = (learn(&mut links, 10, 1).unwrap(), learn(&mut links, 10, 2).unwrap());
        links.make_certain(second);
        assert!(links.go_on(&hop(2)) && !links.is_search_due(Nanos::from_secs(100)));
        assert_eq!(learn(&mut links, 100, 3), None);

        let release = |links: &mut Links, at: u64| {
            let now = Nanos::from_secs(at);
            assert!(links.is_search_due(now));
            links.release_silent(now, &[true])
        };
        assert_eq!(release(&mut links, 309), []);
        assert_eq!(release(&mut links, 319), [second]);
        assert!(!links.go_on(&hop(2)) && links.find(&hop(2), &hop(3)).is_none());
        assert_eq!(learn(&mut links, 320, 3), Some(second));
        let known: Vec<_> = links.views().map(|(index, view)| (index, view.from.0)).collect();
        assert_eq!(known, [(first, 1), (second, 3)]);
    }
}
