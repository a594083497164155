//! Arbitrary payloads, and small corruptions of frames.

use proptest::collection::vec;
use proptest::prelude::*;

/// Payloads of 0 to `most` bytes; short ones, odd ones and fields of one repeated byte are frequent.
pub fn payload(most: usize) -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![
        2 => 0..=most.min(9),
        2 => 0..=most.min(64),
        1 => 0..=most,
    ];
    let byte = prop_oneof![Just(0x00), Just(0xff), any::<u8>()];
    length.prop_flat_map(move |length| {
        prop_oneof![vec(any::<u8>(), length), byte.clone().prop_map(move |byte| vec![byte; length])]
    })
}

/// A small corruption of a frame.
#[derive(Clone, Debug)]
pub enum Mutation {
    /// Sets a byte.
    Set(prop::sample::Index, u8),
    /// Flips a bit.
    Flip(prop::sample::Index, u8),
    /// Cuts the frame.
    Cut(prop::sample::Index),
    /// Inserts bytes.
    Insert(prop::sample::Index, Vec<u8>),
    /// Removes a few bytes.
    Remove(prop::sample::Index, u8),
}

/// Any small corruption.
pub fn mutation() -> impl Strategy<Value = Mutation> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        (index(), prop_oneof![Just(0), Just(0xff), any::<u8>()])
            .prop_map(|(at, byte)| Mutation::Set(at, byte)),
        (index(), 0..8_u8).prop_map(|(at, bit)| Mutation::Flip(at, bit)),
        index().prop_map(Mutation::Cut),
        (index(), vec(any::<u8>(), 1..9)).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        (index(), 1..9_u8).prop_map(|(at, count)| Mutation::Remove(at, count)),
    ]
}

impl Mutation {
    /// Corrupts `frame`; an empty one is unchanged.
    pub fn apply(&self, frame: &mut Vec<u8>) {
        if frame.is_empty() {
            return;
        }
        match self {
            Self::Set(at, byte) => *at.get_mut(frame) = *byte,
            Self::Flip(at, bit) => *at.get_mut(frame) ^= 1 << bit,
            Self::Cut(at) => frame.truncate(at.index(frame.len())),
            Self::Insert(at, bytes) => {
                let at = at.index(frame.len());
                frame.splice(at..at, bytes.iter().copied());
            }
            Self::Remove(at, count) => {
                let at = at.index(frame.len());
                let end = frame.len().min(at + usize::from(*count));
                frame.drain(at..end);
            }
        }
    }
}
