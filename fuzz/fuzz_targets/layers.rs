//! Finds the layers of a packet in arbitrary bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inband_testkit::fuzz::layers(input));
