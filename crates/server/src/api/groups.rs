//! Groups of nodes with the same neighbours, for maps with many nodes.

use std::collections::{BTreeMap, BTreeSet};

use inband_model::api::{FabricMap, MapBundleColumns, MapColor, MapGroupColumns};

/// Puts the nodes of a map into at most [`MAX_GROUPS`] groups, and the links between two groups into bundles.
/// The result contains no single nodes, interfaces or links.
pub(super) fn group(map: FabricMap) -> FabricMap {
    let members = members(&map);
    let mut group_of = vec![0; map.nodes.node.len()];
    for (group, nodes) in (0..).zip(&members) {
        nodes.iter().for_each(|node| group_of[*node] = group);
    }
    let adds_up = matches!(map.by, MapColor::Drops | MapColor::Reports);
    let merge = |into: &mut Option<u64>, value: Option<u64>| match (adds_up, *into, value) {
        (true, Some(before), Some(value)) => *into = Some(before.saturating_add(value)),
        _ => *into = (*into).max(value),
    };
    let mut groups = MapGroupColumns::default();
    for nodes in &members {
        let mut value = None;
        nodes.iter().for_each(|node| merge(&mut value, map.nodes.value[*node]));
        groups.name.push(name(&map, nodes));
        groups.nodes.push(nodes.iter().map(|node| map.nodes.node[*node]).collect());
        groups.value.push(value);
        groups.reports.push(nodes.iter().map(|node| map.nodes.reports[*node]).sum());
    }
    let mut between: BTreeMap<(u32, u32), (u32, Option<u64>, u32)> = BTreeMap::new();
    for at in 0..map.links.from.len() {
        let end = |row: u32| group_of[row as usize];
        let bundle = between.entry((end(map.links.from[at]), end(map.links.to[at]))).or_default();
        bundle.0 += 1;
        merge(&mut bundle.1, map.links.value[at]);
        bundle.2 += u32::from(!map.links.certain[at]);
    }
    let mut bundles = MapBundleColumns::default();
    for ((from, to), (links, value, uncertain)) in between {
        bundles.from.push(from);
        bundles.to.push(to);
        bundles.links.push(links);
        bundles.value.push(value);
        bundles.uncertain.push(uncertain);
    }
    let FabricMap { from, to, by, source, damage, .. } = map;
    FabricMap { from, to, by, source, damage, groups, bundles, ..FabricMap::default() }
}

/// The rows of the nodes of each group.
fn members(map: &FabricMap) -> Vec<Vec<usize>> {
    let count = map.nodes.node.len();
    if count <= MAX_GROUPS {
        return (0..count).map(|node| vec![node]).collect();
    }
    let mut neighbours: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); count];
    for (from, to) in map.links.from.iter().zip(&map.links.to) {
        neighbours[*from as usize].insert(*to);
        neighbours[*to as usize].insert(*from);
    }
    let mut alike: BTreeMap<&BTreeSet<u32>, Vec<usize>> = BTreeMap::new();
    for (node, around) in neighbours.iter().enumerate() {
        alike.entry(around).or_default().push(node);
    }
    let mut groups: Vec<Vec<usize>> = alike.into_values().collect();
    groups.sort();
    if groups.len() > MAX_GROUPS {
        // A fabric without such a structure is cut into chunks of consecutive ids.
        let length = count.div_ceil(MAX_GROUPS);
        groups = (0..count).collect::<Vec<_>>().chunks(length).map(<[usize]>::to_vec).collect();
    }
    groups
}

/// The name of a node, or those of the first and the last of several.
fn name(map: &FabricMap, nodes: &[usize]) -> String {
    let of = |node: usize| {
        map.nodes.name[node].clone().unwrap_or_else(|| format!("node {}", map.nodes.node[node]))
    };
    match nodes {
        [] => String::new(),
        [one] => of(*one),
        [first, .., last] => format!("{} to {}", of(*first), of(*last)),
    }
}

/// Maximum number of groups of a map.
const MAX_GROUPS: usize = 200;

#[cfg(test)]
mod tests {
    use inband_model::api::MapLinkColumns;

    use super::{FabricMap, MAX_GROUPS, MapColor, group};

    /// Pods of two spines and four leaves; the value of a leaf's links is the leaf's number.
    fn fabric(pods: u32, by: MapColor) -> FabricMap {
        let mut map = FabricMap { by, ..FabricMap::default() };
        let add = |map: &mut FabricMap, value| {
            let node = u32::try_from(map.nodes.node.len()).unwrap();
            map.nodes.node.push(node);
            map.nodes.name.push(None);
            map.nodes.reports_itself.push(true);
            map.nodes.value.push(value);
            map.nodes.reports.push(1);
            node
        };
        for _ in 0..pods {
            let spines = [add(&mut map, None), add(&mut map, None)];
            for leaf in 0..4 {
                let node = add(&mut map, Some(leaf));
                for spine in spines {
                    map.links.from.push(node);
                    map.links.to.push(spine);
                    map.links.value.push(Some(leaf));
                    map.links.certain.push(leaf != 3);
                }
            }
        }
        map
    }

    #[test]
    fn a_small_map_has_a_group_for_each_node() {
        let grouped = group(fabric(2, MapColor::P99));
        assert_eq!(grouped.groups.nodes, (0..12).map(|node| vec![node]).collect::<Vec<_>>());
        assert_eq!(grouped.bundles.links, vec![1; 16]);
    }

    #[test]
    fn nodes_with_the_same_neighbours_stand_together_and_the_worst_of_them_counts() {
        let grouped = group(fabric(50, MapColor::P99));
        assert_eq!(grouped.groups.name.len(), 100);
        assert_eq!(grouped.groups.nodes[..2], [vec![0, 1], vec![2, 3, 4, 5]]);
        assert_eq!(grouped.groups.value[..2], [None, Some(3)]);
        assert_eq!(grouped.groups.name[1], "node 2 to node 5");
        let bundles = &grouped.bundles;
        assert_eq!((bundles.links[0], bundles.value[0], bundles.uncertain[0]), (8, Some(3), 2));
        assert!(grouped.nodes.node.is_empty() && grouped.links.from.is_empty());
    }

    #[test]
    fn drops_and_reports_add_up() {
        let grouped = group(fabric(50, MapColor::Drops));
        assert_eq!((grouped.groups.value[1], grouped.bundles.value[0]), (Some(6), Some(12)));
    }

    #[test]
    fn a_fabric_without_a_shape_is_cut_into_pieces() {
        let mut map = fabric(200, MapColor::P99);
        // A ring: no two nodes have the same neighbours.
        let count = u32::try_from(map.nodes.node.len()).unwrap();
        map.links = MapLinkColumns::default();
        for node in 0..count {
            map.links.from.push(node);
            map.links.to.push((node + 1) % count);
            map.links.value.push(None);
            map.links.certain.push(true);
        }
        let grouped = group(map);
        assert!(grouped.groups.name.len() <= MAX_GROUPS, "{}", grouped.groups.name.len());
        assert_eq!(grouped.groups.nodes.iter().map(Vec::len).sum::<usize>(), count as usize);
    }
}
