//! The texts of a question, each different one by its number.
//!
//! An IPv4 address is its own number, a negative one. All else gets a number from 0 on when it is met.

use std::hash::{BuildHasher, Hasher};
use std::net::Ipv4Addr;
use std::sync::{Mutex, PoisonError};

use crate::history::Texts;
use crate::mixer::Seed;

/// Texts by their number, shared by the threads of a question.
#[derive(Debug, Default)]
pub(super) struct Words(Mutex<Numbered>);

/// The texts that one thread has met, so that it asks for each text once.
#[derive(Debug, Default)]
pub(super) struct Met {
    own: Numbered,
    /// The number that all threads know each of its texts by.
    shared: Vec<i64>,
}

/// Texts by the order in which they are met.
#[derive(Debug, Default)]
struct Numbered {
    texts: Texts,
    /// The number of a text plus one, 0 for none; behind it bits of the hash, which tell most texts apart.
    slots: Vec<(u32, u32)>,
    seed: Seed,
}

impl Words {
    /// The numbers of some texts.
    pub(super) fn numbers<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Vec<i64> {
        texts.into_iter().map(|text| address(text).unwrap_or_else(|| self.number(text).0)).collect()
    }

    /// All texts that are no addresses, in the order of their numbers.
    pub(super) fn all(&self) -> Texts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).texts.clone()
    }

    /// The number of a text that is no address, and how many bytes of memory it took that were not taken before.
    fn number(&self, text: &str) -> (i64, usize) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.bytes();
        let number = known.number(text);
        (number.into(), known.bytes() - before)
    }
}

impl Met {
    /// The numbers of some texts, and how many bytes of memory they took that were not taken before.
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
            let number = self.own.number(text) as usize;
            if let Some(shared) = self.shared.get(number) {
                return *shared;
            }
            let (shared, more) = words.number(text);
            self.shared.push(shared);
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
    /// The number of a text, which is added if it is not there.
    fn number(&mut self, text: &str) -> u32 {
        if (self.texts.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let (mut slot, low) = self.place(text);
        let mask = self.slots.len() - 1;
        while self.slots[slot].0 != 0 {
            let (number, bits) = self.slots[slot];
            if bits == low && self.texts.get(number as usize - 1) == text {
                return number - 1;
            }
            slot = (slot + 1) & mask;
        }
        self.texts.push(text);
        // Memory ends long before numbers do.
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.slots[slot] = (number, low);
        number - 1
    }

    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
        self.slots.clear();
        self.slots.resize(slots, (0, 0));
        for number in 0..self.texts.len() {
            let (mut slot, low) = self.place(self.texts.get(number));
            while self.slots[slot].0 != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            self.slots[slot] = (u32::try_from(number + 1).unwrap_or(u32::MAX), low);
        }
    }

    /// The slot in which a text is looked for first, and the last bits of its hash.
    fn place(&self, text: &str) -> (usize, u32) {
        let mut hasher = self.seed.build_hasher();
        hasher.write(text.as_bytes());
        // Tells texts apart that end in zeros.
        hasher.write_u64(text.len() as u64);
        let hash = hasher.finish();
        let half = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or(0);
        (half(hash >> 32) as usize & (self.slots.len() - 1), half(hash))
    }

    fn bytes(&self) -> usize {
        self.texts.bytes() + self.slots.capacity() * size_of::<(u32, u32)>()
    }
}

/// The number of an IPv4 address as it is always written; others are no addresses here.
fn address(text: &str) -> Option<i64> {
    if !text.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let address: Ipv4Addr = text.parse().ok()?;
    Some(!i64::from(address.to_bits()))
}

/// The letters of a text of this number, written to `room` if it is an address.
pub(super) fn letters<'a>(number: i64, texts: &'a Texts, room: &'a mut Letters) -> &'a str {
    match usize::try_from(number) {
        Ok(number) => texts.get(number),
        Err(_) => room.write(Ipv4Addr::from_bits(u32::try_from(!number).unwrap_or(0))),
    }
}

/// Room for the letters of an IPv4 address.
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

/// Letters of an IPv4 address, at most.
const MAX_LETTERS: usize = 15;
/// Slots at the beginning.
const FIRST_SLOTS: usize = 1_024;

#[cfg(test)]
mod tests;
