//! Encoding of a column as pages of a row group.
//!
//! If few values are distinct, they are stored in a dictionary, and the data are codes; other values are
//! stored as differences or byte by byte. Levels mark which rows have a value.

use std::collections::HashMap;
use std::hash::Hash;

use parquet::data_type::ByteArray;
use parquet::file::statistics::Statistics;

use super::delta::put_deltas;
use super::dictionary::Dictionary;
use super::file::EncodedColumn;
use super::hybrid::{Run, pack, put_runs, width_of};
use super::page::PageEncoding;
use super::split::put_split;
use crate::history::ColumnData;

/// Encodes one column at a time.
#[derive(Debug)]
pub(super) struct ColumnEncoder {
    encoded: EncodedColumn,
    dictionary: Dictionary,
    /// The number of missing values.
    missing: u64,
}

impl ColumnEncoder {
    pub(super) fn new() -> ColumnEncoder {
        ColumnEncoder { encoded: EncodedColumn::default(), dictionary: Dictionary::default(), missing: 0 }
    }

    /// Begins a column.
    pub(super) fn begin(&mut self) {
        self.encoded.clear();
        self.missing = 0;
    }

    /// Encodes a whole column.
    pub(super) fn put_column(&mut self, data: &ColumnData, is_optional: bool, climbs: bool) {
        self.begin();
        match data {
            ColumnData::Integers { values, valid } => {
                let is_there = |row: usize| valid.as_ref().is_none_or(|valid| valid[row]);
                if is_optional {
                    self.put_levels((0..values.len()).map(|row| (is_there(row), 1)));
                }
                let there = values.iter().enumerate().filter(|(row, _)| !is_optional || is_there(*row));
                let numbers: Vec<u64> = there.map(|(_, value)| value.cast_unsigned()).collect();
                if climbs { self.put_climbing(&numbers) } else { self.put_numbers(&numbers) }
            }
            ColumnData::Flags(values) => self.put_flags(values.iter().copied()),
            ColumnData::Texts { codes, words } => {
                if is_optional {
                    self.put_levels(codes.iter().map(|code| (code.is_some(), 1)));
                }
                let word = |code: u32| words.get(code as usize).to_owned();
                self.put_texts(codes.iter().flatten().map(|code| (*code, 1)), word);
            }
        }
    }

    /// The encoded column.
    pub(super) fn encoded(&self) -> &EncodedColumn {
        &self.encoded
    }

    /// Sets which rows have a value, as runs. Only for optional columns, and before the values.
    pub(super) fn put_levels(&mut self, levels: impl Iterator<Item = (bool, u32)>) {
        let data = &mut self.encoded.data;
        data.extend_from_slice(&[0; LENGTH_BYTES]);
        let mut missing = 0;
        let runs = merged(levels).map(|(there, length)| {
            missing += if there { 0 } else { u64::from(length) };
            Run { code: there.into(), length }
        });
        put_runs(data, 1, runs);
        self.missing = missing;
        let length = u32::try_from(data.len() - LENGTH_BYTES).unwrap_or(u32::MAX);
        data[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    }

    /// Adds numbers, as a dictionary if few are distinct.
    pub(super) fn put_numbers(&mut self, numbers: &[u64]) {
        if !self.put_coded(numbers.iter().map(|number| (*number, 1))) {
            self.put_noisy(numbers);
        }
    }

    /// Adds numbers with their repetitions.
    pub(super) fn put_repeated(&mut self, numbers: &[(u64, u32)]) {
        if !self.put_coded(numbers.iter().copied()) {
            let repeat = |(number, length): &(u64, u32)| std::iter::repeat_n(*number, *length as usize);
            let all: Vec<u64> = numbers.iter().flat_map(repeat).collect();
            self.put_noisy(&all);
        }
    }

    /// Adds numbers without a pattern.
    pub(super) fn put_noisy(&mut self, numbers: &[u64]) {
        self.encoded.encoding = Some(PageEncoding::Split);
        put_split(&mut self.encoded.data, numbers);
        self.note_bounds(bounds(numbers));
    }

    /// Adds ascending numbers.
    pub(super) fn put_climbing(&mut self, numbers: &[u64]) {
        self.encoded.encoding = Some(PageEncoding::Delta);
        put_deltas(&mut self.encoded.data, numbers);
        self.note_bounds(bounds(numbers));
    }

    /// Adds flags.
    pub(super) fn put_flags(&mut self, flags: impl Iterator<Item = bool>) {
        let (mut any, mut all) = (false, true);
        let bits = flags.inspect(|flag| (any, all) = (any | flag, all & flag)).map(u64::from);
        pack(&mut self.encoded.data, 1, bits);
        self.encoded.encoding = Some(PageEncoding::Plain);
        self.encoded.statistics = Some(Statistics::boolean(Some(all), Some(any), None, Some(0), false));
    }

    /// Adds the same flag for `rows` rows.
    pub(super) fn put_flag(&mut self, flag: bool, rows: usize) {
        let bits = if flag { u8::MAX } else { 0 };
        self.encoded.data.resize(rows.div_ceil(8), bits);
        if let Some(last) = self.encoded.data.last_mut() {
            // Bits after the last row are 0.
            *last >>= rows.next_multiple_of(8) - rows;
        }
        self.encoded.encoding = Some(PageEncoding::Plain);
        self.encoded.statistics = Some(Statistics::boolean(Some(flag), Some(flag), None, Some(0), false));
    }

    /// Adds texts with their repetitions; `write` is called for each distinct one.
    pub(super) fn put_texts<T: Copy + Eq + Hash>(
        &mut self,
        texts: impl Iterator<Item = (T, u32)>,
        write: impl Fn(T) -> String,
    ) {
        let mut known: HashMap<T, u32> = HashMap::new();
        let mut words: Vec<String> = Vec::new();
        let code = |(text, length)| {
            let code = *known.entry(text).or_insert_with(|| {
                words.push(write(text));
                u32::try_from(words.len() - 1).unwrap_or(u32::MAX)
            });
            Run { code, length }
        };
        let runs: Vec<Run> = merged(texts).map(code).collect();
        for word in &words {
            let length = u32::try_from(word.len()).unwrap_or(u32::MAX);
            self.encoded.dictionary.extend_from_slice(&length.to_le_bytes());
            self.encoded.dictionary.extend_from_slice(word.as_bytes());
        }
        self.put_codes(words.len(), &runs);
        let bound = |word: &String| ByteArray::from(word.as_str());
        let bounds = words.iter().min().zip(words.iter().max());
        // Long bounds would make the footer as large as the column.
        let bounds = bounds.filter(|(least, greatest)| least.len().max(greatest.len()) <= MAX_BOUND_BYTES);
        let (least, greatest) = bounds.map(|(least, greatest)| (bound(least), bound(greatest))).unzip();
        self.encoded.statistics =
            Some(Statistics::byte_array(least, greatest, None, Some(self.missing), false));
    }

    /// Adds numbers as a dictionary; `false` if too many are distinct.
    fn put_coded(&mut self, numbers: impl Iterator<Item = (u64, u32)>) -> bool {
        let mut dictionary = std::mem::take(&mut self.dictionary);
        let are_few = dictionary.take(numbers);
        if are_few {
            let words = dictionary.words();
            words.iter().for_each(|word| self.encoded.dictionary.extend_from_slice(&word.to_le_bytes()));
            self.put_codes(words.len(), dictionary.runs());
            self.note_bounds(bounds(words));
        }
        self.dictionary = dictionary;
        are_few
    }

    fn put_codes(&mut self, words: usize, runs: &[Run]) {
        self.encoded.words = words;
        if words == 0 {
            // Without values, the dictionary is empty.
            self.encoded.encoding = Some(PageEncoding::Plain);
            return;
        }
        self.encoded.encoding = Some(PageEncoding::Dictionary);
        let width = code_width(words);
        self.encoded.data.extend(width.to_le_bytes().first());
        put_runs(&mut self.encoded.data, width, runs.iter().copied());
    }

    fn note_bounds(&mut self, bounds: Option<(u64, u64)>) {
        let (least, greatest) = bounds.unzip();
        let signed = |number: Option<u64>| number.map(u64::cast_signed);
        self.encoded.statistics =
            Some(Statistics::int64(signed(least), signed(greatest), None, Some(self.missing), false));
    }
}

/// The width of a code in bits: whole bytes unless codes are small, so that repetitions look alike to the
/// compressor.
fn code_width(words: usize) -> u32 {
    let width = width_of(words as u64 - 1);
    if width > WIDEST_PACKED { width.next_multiple_of(8) } else { width }
}

/// The smallest and the largest number, as signed; `None` if there are none.
fn bounds(numbers: &[u64]) -> Option<(u64, u64)> {
    let mut signed = numbers.iter().map(|number| number.cast_signed());
    let first = signed.next()?;
    let (least, greatest) =
        signed.fold((first, first), |(least, greatest), number| (least.min(number), greatest.max(number)));
    Some((least.cast_unsigned(), greatest.cast_unsigned()))
}

/// Joins adjacent equal items.
fn merged<T: Copy + PartialEq>(items: impl Iterator<Item = (T, u32)>) -> impl Iterator<Item = (T, u32)> {
    let mut items = items.filter(|(_, length)| *length > 0).peekable();
    std::iter::from_fn(move || {
        let (item, mut length) = items.next()?;
        while let Some((_, more)) = items.next_if(|(next, _)| *next == item) {
            length += more;
        }
        Some((item, length))
    })
}

/// Wider codes are stored in whole bytes.
const WIDEST_PACKED: u32 = 4;
/// Maximum length of a text in statistics, bytes.
const MAX_BOUND_BYTES: usize = 64;
/// Bytes of the length before the levels.
const LENGTH_BYTES: usize = 4;

#[cfg(test)]
mod tests;
