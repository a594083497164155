//! The answer to a request that failed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a request failed, as `application/problem+json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// HTTP status, in words.
    pub title: String,
    /// HTTP status code.
    pub status: u16,
    /// What is wrong, in words.
    pub error: String,
    /// The invalid parameter, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// The values that `parameter` allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
}
