//! What telemetry reports say: sequence ledger, correlation, paths.
