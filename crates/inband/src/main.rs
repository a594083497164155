//! In-band Network Telemetry in one program.
fn main() {}
