//! Does a path of INT nodes hold for any frame and any configuration?
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inband_testkit::fuzz::node(input));
