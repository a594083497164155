//! Reads arbitrary bytes as the kernel's description of its types (BTF).
#![no_main]

#[path = "../bodies/btf.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|input: &[u8]| body::btf(input));
