//! Why there is no answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why there is no answer, as `application/problem+json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// The status of the answer in words.
    pub title: String,
    /// The status of the answer.
    pub status: u16,
    /// What is wrong, in words.
    pub error: String,
    /// The parameter that is wrong, where one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// What is allowed for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
}
