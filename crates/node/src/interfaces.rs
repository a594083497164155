//! The interfaces of a node.

use inband_wire::int::metadata::NOT_AVAILABLE;

use crate::config::InterfaceConfig;
use crate::error::ConfigError;

/// One interface, as the engine needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interface {
    pub(crate) id: u16,
    pub(crate) level2_id: Option<u32>,
    pub(crate) edge: bool,
    /// Whether packets that come in by it may carry INT.
    pub(crate) accept_int: bool,
    pub(crate) mtu: usize,
}

/// The node's interfaces, sorted by identifier.
#[derive(Clone, Debug)]
pub(crate) struct Interfaces(Vec<Interface>);

impl Interfaces {
    /// # Errors
    /// An identifier that is given twice.
    pub(crate) fn new(configs: &[InterfaceConfig]) -> Result<Self, ConfigError> {
        let mut interfaces: Vec<_> = configs.iter().map(Interface::new).collect();
        interfaces.sort_by_key(|interface| interface.id);
        match interfaces.windows(2).find(|pair| pair.first().map(|a| a.id) == pair.last().map(|b| b.id)) {
            Some([twice, ..]) => {
                Err(ConfigError::Twice { key: "interface.id".to_owned(), value: twice.id.to_string() })
            }
            _ => Ok(Self(interfaces)),
        }
    }

    /// The interface with identifier `id`; one that is not configured faces no hosts and has every default.
    #[inline]
    pub(crate) fn get(&self, id: u16) -> Interface {
        self.0
            .iter()
            .find(|interface| interface.id == id)
            .copied()
            .unwrap_or_else(|| Interface::new(&InterfaceConfig::new(id)))
    }
}

impl Interface {
    /// Where a packet comes in that the node made itself; its identifier is all ones, "not available".
    pub(crate) const NONE: Self =
        Self { id: u16::MAX, level2_id: None, edge: true, accept_int: true, mtu: usize::MAX };

    fn new(config: &InterfaceConfig) -> Self {
        Self {
            id: config.id,
            level2_id: Some(config.level2_id).filter(|id| *id != NOT_AVAILABLE),
            edge: config.edge,
            accept_int: config.accept_int.unwrap_or(!config.edge),
            mtu: usize::try_from(config.mtu).unwrap_or(usize::MAX),
        }
    }
}
