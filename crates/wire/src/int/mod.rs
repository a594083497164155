//! INT headers: their location in a packet and their contents.
//!
//! [`locate`] finds a header in each encapsulation, [`md`] and [`mx`] read those of INT 2.1, [`stack`]
//! iterates over the hops of an INT-MD stack, [`metadata`] is the metadata of one hop. [`earlier`] contains
//! the versions before 2.0, [`any`] covers headers of all versions.

pub mod any;
pub mod code_points;
pub mod dialect;
pub mod domain;
mod dscp_mark;
pub mod earlier;
mod hops;
pub mod instruction;
pub mod locate;
pub mod location;
pub mod md;
pub mod metadata;
pub mod mx;
pub mod original;
pub mod shim;
pub mod stack;
pub mod version;

pub use any::{AnyHeader, AnyHop};
pub use code_points::{CodePoints, TcpOptions};
pub use dialect::{Deviation, Deviations, Dialect, Reading};
pub use domain::Domain;
pub use dscp_mark::DscpMark;
pub use instruction::Instructions;
pub use location::{Encapsulation, HeaderType, Location};
pub use md::{Md, MdHeader};
pub use metadata::{Buffer, HopMetadata, Interfaces, Queue};
pub use mx::{Mx, MxHeader};
pub use original::Original;
pub use stack::{Hop, MetadataStack};
pub use version::Version;
