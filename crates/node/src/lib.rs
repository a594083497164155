//! The INT node engine: source, transit hop and sink.
