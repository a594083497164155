//! A switch with either datapath.

use inband_node::NodeConfig;
use inband_node::config::Datapath;

use crate::engine::Switch;
use crate::error::SwitchError;
use crate::kernel::KernelSwitch;
use crate::status::Status;

/// A switch with the datapath of `switch.datapath`.
#[derive(Debug)]
pub enum LiveSwitch {
    /// The program forwards.
    Engine(Box<Switch>),
    /// Linux forwards.
    Kernel(Box<KernelSwitch>),
}

impl LiveSwitch {
    /// Starts the switch that `config` describes, on the interfaces of this thread's network namespace.
    ///
    /// # Errors
    /// A mistake in the configuration, or a refusal of the system. Nothing has changed then.
    pub fn start(config: &NodeConfig) -> Result<Self, SwitchError> {
        match config.switch.datapath {
            Datapath::Engine => Switch::start(config).map(|switch| Self::Engine(Box::new(switch))),
            Datapath::Kernel => KernelSwitch::start(config).map(|switch| Self::Kernel(Box::new(switch))),
        }
    }

    /// Handles what is pending; if nothing is, waits up to a tenth of a second for a frame.
    ///
    /// # Errors
    /// An error of the system about an interface.
    pub fn step(&mut self) -> Result<(), SwitchError> {
        match self {
            Self::Engine(switch) => switch.step(),
            Self::Kernel(switch) => switch.step(),
        }
    }

    /// Applies another configuration from the next packet on.
    ///
    /// # Errors
    /// A mistake in the configuration, or a change that needs a restart; nothing has changed then.
    pub fn reload(&mut self, config: &NodeConfig) -> Result<(), SwitchError> {
        match self {
            Self::Engine(switch) => switch.reload(config),
            Self::Kernel(switch) => switch.reload(config),
        }
    }

    /// Completes pending reports, and sends what waits.
    pub fn finish(&mut self) {
        match self {
            Self::Engine(switch) => switch.finish(),
            Self::Kernel(switch) => switch.finish(),
        }
    }

    /// The status of the switch.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            Self::Engine(switch) => switch.status(),
            Self::Kernel(switch) => switch.status(),
        }
    }
}
