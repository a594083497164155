//! INT headers: where they lie in a packet and what they hold (INT 2.1).
//!
//! [`locate`] finds a header behind each encapsulation, [`md`] and [`mx`] read it, [`stack`] iterates the
//! hops of an INT-MD stack, [`metadata`] is what one hop says.

pub mod code_points;
pub mod domain;
pub mod instruction;
pub mod locate;
pub mod location;
pub mod md;
pub mod metadata;
pub mod mx;
pub mod shim;
pub mod stack;
pub mod version;

pub use code_points::{CodePoints, DscpMark, TcpOptions};
pub use domain::Domain;
pub use instruction::Instructions;
pub use location::{Encapsulation, HeaderType, Location};
pub use md::{Md, MdHeader};
pub use metadata::{Buffer, HopMetadata, Interfaces, Queue};
pub use mx::{Mx, MxHeader};
pub use stack::{Hop, MetadataStack};
pub use version::Version;
