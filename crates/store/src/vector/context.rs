//! What a question is answered with.

use std::sync::Arc;

use super::words::Words;
use crate::budget::Budget;
use crate::history::History;

/// The environment of a question.
pub(super) struct Context<'a> {
    pub(super) history: &'a History,
    pub(super) budget: &'a Arc<Budget>,
    pub(super) words: Words,
}
