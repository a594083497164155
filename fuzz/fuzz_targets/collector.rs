//! Does the collector hold for any datagrams?
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inband_testkit::fuzz::collector(input));
