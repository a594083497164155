//! A switch with either datapath.

use inband_node::NodeConfig;
use inband_node::config::Datapath;

use crate::engine::Switch;
use crate::error::SwitchError;
use crate::kernel::KernelSwitch;
use crate::status::Status;

/// A switch with either datapath, as `switch.datapath` says.
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
    /// What is wrong in the configuration; what the system does not allow. Nothing has changed then.
    pub fn start(config: &NodeConfig) -> Result<Self, SwitchError> {
        match config.switch.datapath {
            Datapath::Engine => Switch::start(config).map(|switch| Self::Engine(Box::new(switch))),
            Datapath::Kernel => KernelSwitch::start(config).map(|switch| Self::Kernel(Box::new(switch))),
        }
    }

    /// Does what there is to do; where there is nothing, waits for a frame for at most a tenth of a second.
    ///
    /// # Errors
    /// What the system says about an interface.
    pub fn step(&mut self) -> Result<(), SwitchError> {
        match self {
            Self::Engine(switch) => switch.step(),
            Self::Kernel(switch) => switch.step(),
        }
    }

    /// Takes over another configuration from the next packet on.
    ///
    /// # Errors
    /// What is wrong in the configuration, or cannot change while the switch runs; nothing has changed then.
    pub fn reload(&mut self, config: &NodeConfig) -> Result<(), SwitchError> {
        match self {
            Self::Engine(switch) => switch.reload(config),
            Self::Kernel(switch) => switch.reload(config),
        }
    }

    /// Completes reports that wait for more, and sends what waits.
    pub fn finish(&mut self) {
        match self {
            Self::Engine(switch) => switch.finish(),
            Self::Kernel(switch) => switch.finish(),
        }
    }

    /// What the switch says of itself.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            Self::Engine(switch) => switch.status(),
            Self::Kernel(switch) => switch.status(),
        }
    }
}
