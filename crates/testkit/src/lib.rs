//! Shared test support: packets, an independent checksum reader, strategies, golden cases.
//!
//! [`packet`](packet()), [`md_frame`] and [`report_group`] write bytes from the specifications, and
//! [`oracle`] reads them by plain loops: neither uses the code under test. [`strategies`] generates arbitrary
//! ones, [`fuzz`] holds the bodies of the fuzz targets.

mod backlog;
pub mod earlier;
mod failures;
pub mod fuzz;
pub mod golden;
pub mod hex;
pub mod http_server;
pub mod int;
pub mod metrics;
pub mod network;
pub mod oracle;
pub mod packet;
pub mod path;
pub mod reference;
pub mod report;
pub mod report_again;
pub mod strategies;

pub use backlog::widen_backlog;
pub use earlier::{EarlierInt, host_int, int_0_5, int_1_0, int_in_tunnel};
pub use hex::hex;
pub use int::{Int, IntFrame, int_md, int_mx, md_frame, mx_frame};
pub use packet::{Checksum, Packet, packet};
pub use report::{Individual, ReportGroup, inner_only, int_report, report_group};
