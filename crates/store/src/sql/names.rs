//! The SQL functions `node_name(node)`, `interface_name(node, interface)` and `address_name(address)`.

use std::net::IpAddr;
use std::panic::RefUnwindSafe;
use std::sync::Arc;

use inband_model::{Names, NodeId};
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};

/// Names for the ids and addresses in reports.
pub trait Naming: Send + Sync + RefUnwindSafe {
    /// The name of a node.
    fn node_name(&self, node: u32) -> Option<&str>;
    /// The name of a node's level 1 interface.
    fn interface_name(&self, node: u32, interface: u16) -> Option<&str>;
    /// The name of the host with this address, or of its subnet.
    fn address_name(&self, address: IpAddr) -> Option<&str>;
}

/// No names.
#[derive(Debug, Clone, Copy)]
pub struct NoNames;

impl Naming for NoNames {
    fn node_name(&self, _: u32) -> Option<&str> {
        None
    }

    fn interface_name(&self, _: u32, _: u16) -> Option<&str> {
        None
    }

    fn address_name(&self, _: IpAddr) -> Option<&str> {
        None
    }
}

impl Naming for Names {
    fn node_name(&self, node: u32) -> Option<&str> {
        self.node(NodeId(node))
    }

    fn interface_name(&self, node: u32, interface: u16) -> Option<&str> {
        self.interface(NodeId(node), Some(interface)).map(|interface| interface.name.as_str())
    }

    fn address_name(&self, address: IpAddr) -> Option<&str> {
        self.address(address)
    }
}

/// Adds the functions. They return NULL for NULL and for what has no name.
pub(super) fn add(connection: &Connection, names: &Arc<dyn Naming>) -> Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    let known = Arc::clone(names);
    connection.create_scalar_function("node_name", 1, flags, move |context| {
        let node = number(context, 0, "node_name: a node is an integer")?;
        Ok(node.and_then(|node| known.node_name(node)).map(str::to_owned))
    })?;
    let known = Arc::clone(names);
    connection.create_scalar_function("interface_name", 2, flags, move |context| {
        let node = number(context, 0, "interface_name: a node is an integer")?;
        let interface = number(context, 1, "interface_name: an interface is an integer")?;
        let found = node.zip(interface).and_then(|(node, interface)| known.interface_name(node, interface));
        Ok(found.map(str::to_owned))
    })?;
    let known = Arc::clone(names);
    connection.create_scalar_function("address_name", 1, flags, move |context| {
        let address = address(context)?;
        Ok(address.and_then(|address| known.address_name(address)).map(str::to_owned))
    })
}

/// A numeric argument; `None` if NULL or too large for the type.
fn number<T: TryFrom<i64>>(context: &Context<'_>, index: usize, wrong: &str) -> Result<Option<T>> {
    match context.get_raw(index) {
        ValueRef::Integer(number) => Ok(T::try_from(number).ok()),
        ValueRef::Null => Ok(None),
        _ => Err(Error::UserFunctionError(wrong.into())),
    }
}

/// An address argument; `None` if NULL or not an address.
fn address(context: &Context<'_>) -> Result<Option<IpAddr>> {
    match context.get_raw(0) {
        ValueRef::Text(text) => Ok(str::from_utf8(text).ok().and_then(|text| text.parse().ok())),
        ValueRef::Null => Ok(None),
        _ => Err(Error::UserFunctionError("address_name: an address is a text".into())),
    }
}
