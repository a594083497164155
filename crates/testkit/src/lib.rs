//! Packet builder, golden runner and strategies for tests.
pub mod golden;
