//! The texts of a question, each different one by its number.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::mixer::Seed;

/// Texts by their number, shared by the threads of a question.
#[derive(Debug, Default)]
pub(super) struct Words(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    numbers: HashMap<Arc<str>, i64, Seed>,
    words: Vec<Arc<str>>,
    bytes: usize,
}

impl Words {
    /// The numbers of some texts, and how many bytes of memory they took that were not taken before.
    pub(super) fn numbers(&self, texts: &[Arc<str>]) -> (Vec<i64>, usize) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.bytes;
        let numbers = texts.iter().map(|text| known.number(text)).collect();
        (numbers, known.bytes - before)
    }

    /// All texts in the order of their numbers.
    pub(super) fn all(&self) -> Vec<Arc<str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).words.clone()
    }
}

/// The numbers of texts that one thread has met, so that it asks for each text once.
#[derive(Debug, Default)]
pub(super) struct Met(HashMap<Arc<str>, i64, Seed>);

impl Met {
    /// The numbers of some texts, and how many bytes of memory they took that were not taken before.
    pub(super) fn numbers(&mut self, texts: &[Arc<str>], words: &Words) -> (Vec<i64>, usize) {
        let mut bytes = 0;
        let number = |text: &Arc<str>| {
            if let Some(number) = self.0.get(text) {
                return *number;
            }
            let (numbers, more) = words.numbers(std::slice::from_ref(text));
            bytes += more + BYTES_OF_A_WORD;
            let number = numbers.first().copied().unwrap_or(0);
            self.0.insert(Arc::clone(text), number);
            number
        };
        let numbers = texts.iter().map(number).collect();
        (numbers, bytes)
    }
}

impl Known {
    fn number(&mut self, text: &Arc<str>) -> i64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = i64::try_from(self.words.len()).unwrap_or(i64::MAX);
        self.numbers.insert(Arc::clone(text), number);
        self.words.push(Arc::clone(text));
        self.bytes += text.len() + BYTES_OF_A_WORD;
        number
    }
}

/// What a text takes beside its letters, about.
const BYTES_OF_A_WORD: usize = 96;
