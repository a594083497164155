//! Follows the tunnels and INT headers in arbitrary bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inband_testkit::fuzz::dissect(input));
