//! Checks that the settings of switches and hosts apply to something.

use toml::{Spanned, Table, Value};

use super::parts::{Node, Plan};
use crate::topology::{Mistake, Topology};

/// Checks the settings of every switch and host.
pub(super) fn check(plan: &Plan, topology: &Topology) -> Result<(), Mistake> {
    let (switches, hosts) = plan.nodes.split_at(topology.switches.len());
    for (node, switch) in switches.iter().zip(&topology.switches) {
        check_interfaces(node, &switch.interface)?;
        let mut tables = switch.tables();
        // Linux forwards as well by addresses or by routes.
        if let Some(Value::Table(own)) = tables.get_mut("switch") {
            own.remove("forwarding");
        }
        if !switch.int && has_settings(&tables, &switch.interface) {
            let message = format!("switch `{}` has settings of INT, and `int = false`", node.name);
            return Err(Mistake::at(switch.name.span(), message));
        }
    }
    for (node, host) in hosts.iter().zip(&topology.hosts) {
        check_interfaces(node, &host.interface)?;
        if !host.int && (host.id.is_some() || has_settings(&host.tables(), &host.interface)) {
            let message = format!("host `{}` has settings of INT; it does INT with `int = true`", node.name);
            return Err(Mistake::at(host.name.span(), message));
        }
    }
    Ok(())
}

fn has_settings(tables: &Table, interfaces: &[Spanned<Table>]) -> bool {
    let is_empty = |value: &Value| matches!(value, Value::Table(table) if table.is_empty());
    !interfaces.is_empty() || !tables.values().all(is_empty)
}

/// Checks that a node has the interfaces with settings of their own.
fn check_interfaces(node: &Node, entries: &[Spanned<Table>]) -> Result<(), Mistake> {
    let has = |id: i64| node.interfaces.iter().any(|interface| i64::from(interface.id) == id);
    let id = |entry: &Spanned<Table>| entry.get_ref().get("id").and_then(Value::as_integer);
    match entries.iter().find_map(|entry| Some((entry, id(entry).filter(|id| !has(*id))?))) {
        None => Ok(()),
        Some((entry, id)) => {
            let message = format!("no link of `{}` is at interface {id}", node.name);
            Err(Mistake::at(entry.span(), message))
        }
    }
}
