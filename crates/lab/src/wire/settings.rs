//! What the process beside a lab's nodes does.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::relay::LinkSettings;

/// What the process does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The namespace of links.
    pub links_namespace: String,
    /// The links with delay or loss, by their ends' names.
    pub links: Vec<LinkSettings>,
    /// Where the machine finds the collector's API.
    pub api: SocketAddr,
    /// The namespace of the collector.
    pub collector: String,
    /// Namespaces in which the API is found at the same port of 127.0.0.1.
    pub guests: Vec<String>,
}
