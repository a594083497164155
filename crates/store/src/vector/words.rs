//! The texts of a question, numbered.
//!
//! An IPv4 address is its own, negative number. Other texts are numbered from 0 in order of first occurrence.

use std::hash::{BuildHasher, Hasher};
use std::net::Ipv4Addr;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::history::Texts;
use crate::mixer::Seed;

/// Texts by number, shared by the threads of a question.
#[derive(Debug, Default)]
pub(super) struct Words(Mutex<Numbered>);

/// All texts of a question other than addresses, in order of their numbers; no text is added meanwhile.
pub(super) struct AllTexts<'a>(MutexGuard<'a, Numbered>);

/// The texts that one thread has encountered, so that it asks for the shared number of each only once;
/// without long ones, which rarely come twice.
#[derive(Debug)]
pub(super) struct Met {
    own: Numbered,
    /// The shared number of each text.
    shared: Vec<i64>,
}

/// Texts in order of first occurrence.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    texts: Texts,
    /// The hash of each text.
    hashes: Vec<u64>,
    /// One plus the number of a text, 0 for none; then bits of the hash, which distinguish most texts.
    slots: Vec<(u32, u32)>,
    seed: Seed,
}

impl Words {
    /// The numbers of some texts.
    pub(super) fn numbers<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Vec<i64> {
        let seed = self.known().seed.clone();
        let number = |text| address(text).unwrap_or_else(|| self.number(text, hash(&seed, text)).0);
        texts.into_iter().map(number).collect()
    }

    /// All texts other than addresses, in order of their numbers.
    pub(super) fn all(&self) -> AllTexts<'_> {
        AllTexts(self.known())
    }

    /// The number of a text that is not an address, and the bytes that it took if new.
    fn number(&self, text: &str, hash: u64) -> (i64, usize) {
        let mut known = self.known();
        let before = known.bytes();
        let number = known.number(text, hash);
        (number.into(), known.bytes() - before)
    }

    fn known(&self) -> MutexGuard<'_, Numbered> {
        // What is known is valid at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for AllTexts<'_> {
    type Target = Texts;

    fn deref(&self) -> &Texts {
        &self.0.texts
    }
}

impl Met {
    /// No texts yet, of those in `words`.
    pub(super) fn none_of(words: &Words) -> Self {
        let own = Numbered { seed: words.known().seed.clone(), ..Numbered::default() };
        Self { own, shared: Vec::new() }
    }

    /// The numbers of some texts, and the bytes that new ones took.
    pub(super) fn numbers<'a>(
        &mut self,
        texts: impl Iterator<Item = &'a str>,
        words: &Words,
    ) -> (Vec<i64>, usize) {
        let (before, mut bytes) = (self.bytes(), 0);
        let numbers = texts.map(|text| {
            if let Some(address) = address(text) {
                return address;
            }
            let hash = hash(&self.own.seed, text);
            if text.len() <= MAX_MET_BYTES {
                let number = self.own.number(text, hash) as usize;
                if let Some(shared) = self.shared.get(number) {
                    return *shared;
                }
            }
            let (shared, more) = words.number(text, hash);
            if text.len() <= MAX_MET_BYTES {
                self.shared.push(shared);
            }
            bytes += more;
            shared
        });
        let numbers = numbers.collect();
        (numbers, bytes + self.bytes() - before)
    }

    fn bytes(&self) -> usize {
        self.own.bytes() + self.shared.capacity() * size_of::<i64>()
    }
}

impl Numbered {
    /// The number of a text with this hash, added if new.
    fn number(&mut self, text: &str, hash: u64) -> u32 {
        if (self.texts.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let (mut slot, low) = self.place(hash);
        let mask = self.slots.len() - 1;
        while self.slots[slot].0 != 0 {
            let (number, bits) = self.slots[slot];
            if bits == low && self.texts.get(number as usize - 1) == text {
                return number - 1;
            }
            slot = (slot + 1) & mask;
        }
        self.texts.push(text);
        self.hashes.push(hash);
        // Memory runs out long before numbers do.
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.slots[slot] = (number, low);
        number - 1
    }

    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
        self.slots.clear();
        self.slots.resize(slots, (0, 0));
        for (number, hash) in self.hashes.iter().enumerate() {
            let (mut slot, low) = self.place(*hash);
            while self.slots[slot].0 != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            self.slots[slot] = (u32::try_from(number + 1).unwrap_or(u32::MAX), low);
        }
    }

    /// The first slot to look for a text with this hash in, and the low bits of the hash.
    fn place(&self, hash: u64) -> (usize, u32) {
        let half = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or(0);
        (half(hash >> 32) as usize & (self.slots.len() - 1), half(hash))
    }

    fn bytes(&self) -> usize {
        self.texts.bytes()
            + self.hashes.capacity() * size_of::<u64>()
            + self.slots.capacity() * size_of::<(u32, u32)>()
    }
}

fn hash(seed: &Seed, text: &str) -> u64 {
    let mut hasher = seed.build_hasher();
    hasher.write(text.as_bytes());
    // Distinguishes texts that differ in trailing zeros.
    hasher.write_u64(text.len() as u64);
    hasher.finish()
}

/// The number of an IPv4 address in canonical notation; other texts are not treated as addresses.
fn address(text: &str) -> Option<i64> {
    if !text.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let address: Ipv4Addr = text.parse().ok()?;
    Some(!i64::from(address.to_bits()))
}

/// The text with this number; an address is formatted in `room`.
pub(super) fn letters<'a>(number: i64, texts: &'a Texts, room: &'a mut Letters) -> &'a str {
    match usize::try_from(number) {
        Ok(number) => texts.get(number),
        Err(_) => room.write(Ipv4Addr::from_bits(u32::try_from(!number).unwrap_or(0))),
    }
}

/// A buffer for an IPv4 address.
#[derive(Debug, Default)]
pub(super) struct Letters {
    letters: [u8; MAX_LETTERS],
    length: usize,
}

impl Letters {
    fn write(&mut self, address: Ipv4Addr) -> &str {
        self.length = 0;
        for (place, number) in address.octets().into_iter().enumerate() {
            if place > 0 {
                self.push(b'.');
            }
            if number >= 100 {
                self.push(b'0' + number / 100);
            }
            if number >= 10 {
                self.push(b'0' + number / 10 % 10);
            }
            self.push(b'0' + number % 10);
        }
        std::str::from_utf8(&self.letters[..self.length]).unwrap_or_default()
    }

    fn push(&mut self, letter: u8) {
        self.letters[self.length] = letter;
        self.length += 1;
    }
}

/// Maximum length of an IPv4 address, bytes.
const MAX_LETTERS: usize = 15;
/// Texts up to this length are remembered by each thread.
const MAX_MET_BYTES: usize = 64;
/// Initial number of slots.
const FIRST_SLOTS: usize = 1_024;

#[cfg(test)]
mod tests;
