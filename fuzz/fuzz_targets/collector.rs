//! Feeds arbitrary datagrams to the collector.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inband_testkit::fuzz::collector(input));
