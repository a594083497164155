//! Settings of the lab's process outside of its nodes.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::relay::LinkSettings;

/// The settings of the process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The namespace of links.
    pub links_namespace: String,
    /// The links with delay or loss, by their ends' names.
    pub links: Vec<LinkSettings>,
    /// The address of the collector's API outside of the lab.
    pub api: SocketAddr,
    /// The namespace of the collector.
    pub collector: String,
    /// Namespaces where the API is available at the same port of 127.0.0.1.
    pub guests: Vec<String>,
}
