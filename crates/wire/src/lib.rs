//! test
#![no_std]
#![forbid(unsafe_code)]
use zerocopy::{FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, byteorder::big_endian::{U16,U32}};
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, Debug)]
#[repr(C)]
/// d
pub struct Md { first: U32, bitmap: U16, id: U16 }
/// d
pub fn f(b: &mut [u8]) -> Option<u16> { let (m,_) = Md::mut_from_prefix(b).ok()?; m.id = U16::new(3); Some(m.bitmap.get()) }
