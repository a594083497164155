//! Sends arbitrary frames along a path of INT nodes with arbitrary configurations.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inband_testkit::fuzz::node(input));
