//! The filter of flows: conditions joined by `and`, `or`, `not` and parentheses.
//!
//! `fields` defines the fields and their values, `parse` parses a text, and `complete` completes it from the
//! same fields.

mod complete;
mod fields;
mod parse;

use inband_collector::FlowView;
use inband_model::{Names, Nanos};

pub(super) use self::complete::complete;
use self::fields::{Comparison, Field, Operand};
pub(super) use self::parse::FilterError;
use self::parse::Tree;

/// A parsed filter.
#[derive(Debug, Clone)]
pub(super) struct FlowFilter(Option<Tree>);

/// What a flow is filtered by besides its own fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    pub(super) now: Nanos,
    /// Number of earlier paths.
    pub(super) changes: usize,
}

impl FlowFilter {
    /// Parses a filter; all flows pass an empty one.
    ///
    /// # Errors
    /// The text is not a filter.
    pub(super) fn parse(text: &str, names: &Names) -> Result<Self, FilterError> {
        if text.trim().is_empty() {
            return Ok(Self(None));
        }
        parse::parse(text, names).map(|tree| Self(Some(tree)))
    }

    /// Whether a flow passes the filter.
    pub(super) fn passes(&self, flow: &FlowView<'_>, context: Context) -> bool {
        self.0.as_ref().is_none_or(|tree| passes(tree, flow, context))
    }
}

fn passes(tree: &Tree, flow: &FlowView<'_>, context: Context) -> bool {
    match tree {
        Tree::And(one, other) => passes(one, flow, context) && passes(other, flow, context),
        Tree::Or(one, other) => passes(one, flow, context) || passes(other, flow, context),
        Tree::Not(one) => !passes(one, flow, context),
        Tree::Test(field, comparison, operand) => test(*field, *comparison, operand, flow, context),
    }
}

fn test(
    field: Field,
    comparison: Comparison,
    operand: &Operand,
    flow: &FlowView<'_>,
    context: Context,
) -> bool {
    let number = |value: Option<u64>| match operand {
        Operand::Number(wanted) => value.is_some_and(|value| comparison.holds(value, *wanted)),
        Operand::Places(_) | Operand::Flag(_) => false,
    };
    let address = |addresses: &[std::net::IpAddr]| match operand {
        Operand::Places(places) => {
            let is_in = addresses.iter().any(|address| places.iter().any(|place| place.contains(*address)));
            is_in == (comparison == Comparison::Equal)
        }
        Operand::Number(_) | Operand::Flag(_) => false,
    };
    let of = &flow.flow;
    let latencies = || flow.hop_latency.iter().flatten().map(|latency| latency.0);
    match field {
        Field::Source => address(&[of.source]),
        Field::Destination => address(&[of.destination]),
        Field::Host => address(&[of.source, of.destination]),
        Field::Protocol => number(Some(of.protocol.into())),
        Field::SourcePort => number(Some(of.source_port.into())),
        Field::DestinationPort => number(Some(of.destination_port.into())),
        Field::Port => match comparison {
            Comparison::NotEqual => {
                number(Some(of.source_port.into())) && number(Some(of.destination_port.into()))
            }
            _ => number(Some(of.source_port.into())) || number(Some(of.destination_port.into())),
        },
        Field::Node => {
            let mut nodes =
                flow.path.map_or(&[][..], |path| path.hops()).iter().map(|hop| hop.node_id.0.into());
            match comparison {
                Comparison::NotEqual => nodes.all(|node| number(Some(node))),
                _ => nodes.any(|node| number(Some(node))),
            }
        }
        Field::Hops => number(flow.path.map(|path| path.hops().len() as u64)),
        Field::Latency => number(latencies().max()),
        Field::TotalLatency => number(latencies().next().map(|_| latencies().sum())),
        Field::Reports => number(Some(flow.reports)),
        Field::Changes => number(Some(context.changes as u64)),
        Field::Age => number(Some(context.now.since(flow.last_seen).0)),
        Field::Complete => match operand {
            Operand::Flag(wanted) => (flow.complete == *wanted) == (comparison == Comparison::Equal),
            Operand::Number(_) | Operand::Places(_) => false,
        },
    }
}

#[cfg(test)]
mod tests;
