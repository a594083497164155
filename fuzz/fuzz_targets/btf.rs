//! Does reading the kernel's description of its types hold for any bytes?
#![no_main]

#[path = "../bodies/btf.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|input: &[u8]| body::btf(input));
