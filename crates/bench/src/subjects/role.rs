//! The time of a node for a packet.

use std::hint::black_box;

use anyhow::{Result, ensure};
use inband_node::{Frame, Node, Passage};
use inband_wire::Link;

use crate::domains::Domain;
use crate::fabric::{self, Role};
use crate::measure::Subject;
use crate::pool::{FRAMES, Pool};

/// One node that handles the same packet repeatedly; its reports are polled and discarded.
pub(crate) struct OneNode {
    node: Node,
    role: Role,
    passage: Passage,
    pool: Pool,
    frame: Vec<u8>,
    /// Bytes that the node adds to the packet.
    growth: isize,
}

impl OneNode {
    /// # Errors
    /// The node does not accept its configuration.
    pub(crate) fn new(role: Role, frame: Vec<u8>, growth: isize) -> Result<Self> {
        Ok(Self::of(fabric::node(NODE_ID)?, role, frame, growth))
    }

    /// A transit hop of `domain`.
    ///
    /// # Errors
    /// A node of the domain does not do its part.
    pub(crate) fn transit_hop(domain: Domain) -> Result<Self> {
        Ok(Self::of(domain.node(NODE_ID)?, Role::Transit, domain.carrying()?, domain.hop_bytes()))
    }

    fn of(node: Node, role: Role, frame: Vec<u8>, growth: isize) -> Self {
        let pool = Pool::new(&frame);
        Self { node, role, passage: role.passage(), pool, frame, growth }
    }
}

impl Subject for OneNode {
    fn items(&self) -> usize {
        FRAMES
    }

    fn prepare(&mut self) {
        self.pool.restore();
    }

    fn run(&mut self) {
        let range = self.pool.range();
        for buffer in self.pool.buffers() {
            let Some(mut frame) = Frame::new(buffer, range.clone()) else { continue };
            let _ = black_box(self.node.handle_frame(Link::Ethernet, &mut frame, black_box(&self.passage)));
            black_box(frame.range());
            while let Some(output) = self.node.poll_output() {
                black_box(output);
            }
        }
    }

    fn verify(&mut self) -> Result<()> {
        let out = fabric::pass(&mut self.node, &self.frame, self.role)?;
        let growth = out.len().cast_signed() - self.frame.len().cast_signed();
        ensure!(growth == self.growth, "the packet grew by {growth} bytes instead of {}", self.growth);
        let reports = std::iter::from_fn(|| self.node.poll_output().map(drop)).count();
        ensure!(reports == usize::from(self.role == Role::Sink), "{reports} reports of a {:?}", self.role);
        Ok(())
    }
}

/// The node that is measured; those before it on the path have the ids from 1.
const NODE_ID: u32 = 100;
