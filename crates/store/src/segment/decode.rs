//! Decoding of a column chunk's pages.
//!
//! Reads what this program and its earlier versions write: version 1 pages in plain, dictionary, delta or
//! byte-split encoding, with or without zstd. Other bytes cause an error, never a panic.

use std::borrow::Cow;
use std::cell::RefCell;

use inband_model::table::Kind;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use zstd::bulk::Decompressor;

use super::header::PageHeader;
use super::split::{pick_split, take_split};
use super::unpack::{Bytes, each_picked, each_run, take_deltas};
use super::unread::Unread;
use crate::history::{ColumnData, Texts};

/// What is known of a chunk beforehand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout<'a> {
    pub(super) kind: Kind,
    /// Whether values may be missing.
    pub(super) is_optional: bool,
    /// Whether the numbers are in ascending order.
    pub(super) is_sorted: bool,
    pub(super) compression: Compression,
    pub(super) rows: usize,
    /// The number of first rows to read.
    pub(super) wanted: usize,
    /// The only rows among these to read, in ascending order: the values are theirs, one after another.
    /// `None`: all.
    pub(super) picked: Option<&'a [u32]>,
}

/// Decodes the bytes of a chunk.
pub(super) fn decode(bytes: &[u8], layout: Layout<'_>) -> Result<ColumnData, ParquetError> {
    let mut decoder = Decoder::new(layout);
    let mut bytes = Bytes(bytes);
    while decoder.rows < layout.wanted {
        let header = PageHeader::read(&mut bytes).ok_or_else(|| wrong("a page header cannot be read"))?;
        let stored = bytes.take(header.stored_bytes).ok_or_else(|| wrong("a page is cut short"))?;
        if header.checksum.is_some_and(|checksum| checksum != crc32fast::hash(stored)) {
            return Err(wrong("the checksum of a page is wrong"));
        }
        let taken = with_plain(stored, &header, layout.compression, |page| match header.page_type {
            DATA_PAGE => decoder.take_data(&header, page),
            DICTIONARY_PAGE => decoder.take_dictionary(&header, page),
            _ => None,
        })?;
        taken.ok_or_else(|| wrong("a page cannot be read"))?;
    }
    let (is_picked, data) = (decoder.is_picked, decoder.finish());
    let data = data.ok_or_else(|| wrong("values and rows do not agree"))?;
    Ok(match layout.picked.filter(|_| !is_picked) {
        Some(rows) => data.of_rows(rows),
        None => data,
    })
}

/// Passes the uncompressed bytes of a page to `take`.
pub(super) fn with_plain<T>(
    stored: &[u8],
    header: &PageHeader,
    compression: Compression,
    take: impl FnOnce(&[u8]) -> T,
) -> Result<T, ParquetError> {
    match compression {
        Compression::UNCOMPRESSED => Ok(take(stored)),
        Compression::ZSTD(_) if header.plain_bytes <= MAX_PAGE_BYTES => {
            with_decompressed(stored, header.plain_bytes, take)
        }
        _ => Err(wrong("a page is compressed in another way, or too large")),
    }
}

/// Decompresses a page with the thread's decompressor and buffer, which are reused for all pages.
pub(super) fn with_decompressed<T>(
    stored: &[u8],
    plain_bytes: usize,
    take: impl FnOnce(&[u8]) -> T,
) -> Result<T, ParquetError> {
    thread_local! {
        static OWN: RefCell<Option<(Decompressor<'static>, Vec<u8>)>> = const { RefCell::new(None) };
    }
    OWN.with_borrow_mut(|own| {
        let (decompressor, room) = match own {
            Some(own) => own,
            None => own.insert((Decompressor::new()?, Vec::new())),
        };
        room.clear();
        room.reserve(plain_bytes);
        let length = decompressor.decompress_to_buffer(stored, room)?;
        if length != plain_bytes {
            return Err(wrong("a page has another length than its header says"));
        }
        let taken = take(room);
        if room.capacity() > MAX_ROOM_BYTES {
            *room = Vec::new();
        }
        Ok(taken)
    })
}

/// The values read so far.
struct Decoder<'a> {
    layout: Layout<'a>,
    rows: usize,
    /// The number of first rows that are decoded.
    complete: usize,
    /// Which rows have a value; empty if all have.
    valid: Vec<bool>,
    /// The numbers, or codes of texts, that are present.
    numbers: Vec<i64>,
    flags: Vec<bool>,
    dictionary: Vec<i64>,
    words: Texts,
    /// The code of the first word of the current dictionary.
    first_word: usize,
    /// The current dictionary of texts, if only some rows are read.
    unread: Option<Unread>,
    /// The codes of the texts in these rows.
    codes: Vec<Option<u32>>,
    /// Whether only the values of some rows were read.
    is_picked: bool,
}

impl<'a> Decoder<'a> {
    fn new(layout: Layout<'a>) -> Self {
        let is_read = layout.kind != Kind::Flag && layout.picked.is_none();
        let room = if is_read { layout.wanted } else { 0 };
        Self {
            layout,
            rows: 0,
            complete: 0,
            valid: Vec::new(),
            numbers: Vec::with_capacity(room.min(MAX_ROOM)),
            flags: Vec::new(),
            dictionary: Vec::new(),
            words: Texts::default(),
            first_word: 0,
            unread: None,
            codes: Vec::new(),
            is_picked: false,
        }
    }

    fn take_dictionary(&mut self, header: &PageHeader, page: &[u8]) -> Option<()> {
        let mut bytes = Bytes(page);
        match self.layout.kind {
            Kind::Text if self.layout.picked.is_some() => {
                self.unread = Some(Unread::of(page, header.values)?);
                Some(())
            }
            Kind::Text => {
                self.first_word = self.words.len();
                (0..header.values).try_for_each(|_| {
                    self.words.push(&text(&mut bytes)?);
                    Some(())
                })
            }
            Kind::Flag => None,
            Kind::Time | Kind::Integer => {
                let words = bytes.take(header.values.checked_mul(8)?)?;
                self.dictionary = words.chunks_exact(8).map(number).collect();
                Some(())
            }
        }
    }

    fn take_data(&mut self, header: &PageHeader, page: &[u8]) -> Option<()> {
        let rows = header.values;
        if rows == 0 || rows > self.layout.rows - self.rows {
            return None;
        }
        let wanted = rows.min(self.layout.wanted - self.rows);
        self.rows += rows;
        let mut bytes = Bytes(page);
        let values = if self.layout.is_optional { self.take_levels(&mut bytes, wanted)? } else { wanted };
        // If no value is missing, each is at the position of its row.
        if let Some(picked) = self.layout.picked
            && values == self.layout.wanted
        {
            match (self.layout.kind, header.encoding) {
                (Kind::Time | Kind::Integer, SPLIT | PLAIN_DICTIONARY | DICTIONARY) => {
                    return self.pick(header.encoding, bytes, picked);
                }
                (Kind::Text, PLAIN_DICTIONARY | DICTIONARY) => return self.pick_texts(bytes, picked),
                (Kind::Flag, PLAIN) => return self.pick_flags(bytes, picked),
                _ => {}
            }
        }
        self.read_words()?;
        match (self.layout.kind, header.encoding) {
            (Kind::Flag, PLAIN) => {
                let packed = bytes.take(values.div_ceil(8))?;
                let length = self.flags.len() + values;
                self.flags.reserve(packed.len() * 8);
                for byte in packed {
                    self.flags.extend(BITS.map(|bit| byte & bit != 0));
                }
                self.flags.truncate(length);
                Some(())
            }
            (Kind::Time | Kind::Integer, PLAIN) => {
                let plain = bytes.take(values.checked_mul(8)?)?;
                self.numbers.extend(plain.chunks_exact(8).map(number));
                Some(())
            }
            (Kind::Time | Kind::Integer, DELTA) => {
                let before = self.numbers.len();
                take_deltas(&mut bytes, &mut self.numbers, rows, values)?;
                (self.numbers.len() - before == values).then_some(())
            }
            (Kind::Time | Kind::Integer, SPLIT) => {
                let count = if wanted < rows { bytes.0.len() / size_of::<i64>() } else { values };
                take_split(bytes.0, &mut self.numbers, count, values)
            }
            (Kind::Time | Kind::Integer, PLAIN_DICTIONARY | DICTIONARY) => {
                let Self { dictionary, numbers, .. } = self;
                each_code(&mut bytes, values, |code, length| {
                    let number = *dictionary.get(code as usize)?;
                    match length {
                        1 => numbers.push(number),
                        _ => numbers.resize(numbers.len() + length, number),
                    }
                    Some(())
                })
            }
            (Kind::Text, PLAIN) => (0..values).try_for_each(|_| {
                let word = text(&mut bytes)?;
                self.numbers.push(i64::try_from(self.words.len()).ok()?);
                self.words.push(&word);
                Some(())
            }),
            (Kind::Text, PLAIN_DICTIONARY | DICTIONARY) => {
                let Self { first_word, words, numbers, .. } = self;
                each_code(&mut bytes, values, |code, length| {
                    let place = *first_word + code as usize;
                    let code = i64::try_from(place).ok().filter(|_| place < words.len())?;
                    numbers.resize(numbers.len() + length, code);
                    Some(())
                })
            }
            _ => None,
        }
    }

    /// Reads the numbers of some rows.
    fn pick(&mut self, encoding: i64, mut bytes: Bytes<'_>, picked: &[u32]) -> Option<()> {
        self.is_picked = true;
        let Self { dictionary, numbers, layout, .. } = self;
        numbers.reserve(picked.len());
        if encoding == SPLIT {
            return pick_split(bytes.0, numbers, bytes.0.len() / size_of::<i64>(), picked);
        }
        let width = u32::from(bytes.byte()?);
        each_picked(&mut bytes, width, layout.wanted, picked, |_, code| {
            numbers.push(*dictionary.get(code as usize)?);
            Some(())
        })
    }

    /// Reads the texts of some rows.
    fn pick_texts(&mut self, mut bytes: Bytes<'_>, picked: &[u32]) -> Option<()> {
        self.is_picked = true;
        let Self { unread, words, codes, layout, .. } = self;
        let unread = unread.as_mut()?;
        codes.reserve(picked.len());
        let width = u32::from(bytes.byte()?);
        each_picked(&mut bytes, width, layout.wanted, picked, |_, code| {
            codes.push(Some(unread.code(code as usize, words)?));
            Some(())
        })
    }

    /// Reads the flags of some rows.
    fn pick_flags(&mut self, bytes: Bytes<'_>, picked: &[u32]) -> Option<()> {
        self.is_picked = true;
        self.flags.reserve(picked.len());
        for row in picked.iter().map(|row| *row as usize) {
            self.flags.push(bytes.0.get(row / 8)? & BITS[row % 8] != 0);
        }
        Some(())
    }

    /// Reads all words of a dictionary that was put off.
    fn read_words(&mut self) -> Option<()> {
        let Some(unread) = self.unread.take() else { return Some(()) };
        self.first_word = self.words.len();
        unread.read_all(&mut self.words)
    }

    /// Reads which rows have a value; returns how many do.
    fn take_levels(&mut self, bytes: &mut Bytes<'_>, rows: usize) -> Option<usize> {
        let length = bytes.length()?;
        let mut levels = Bytes(bytes.take(length)?);
        let (valid, complete, mut values) = (&mut self.valid, &mut self.complete, 0);
        each_run(&mut levels, 1, rows, |level, length| {
            let is_there = level != 0;
            values += if is_there { length } else { 0 };
            if is_there && valid.is_empty() {
                *complete += length;
                return Some(());
            }
            if valid.is_empty() {
                valid.resize(*complete, true);
            }
            valid.resize(valid.len() + length, is_there);
            Some(())
        })?;
        Some(values)
    }

    fn finish(self) -> Option<ColumnData> {
        let Layout { kind, is_optional, wanted: rows, picked, .. } = self.layout;
        if self.is_picked {
            let picked = picked.map_or(0, <[u32]>::len);
            let (found, data) = match kind {
                Kind::Text => (self.codes.len(), ColumnData::Texts { codes: self.codes, words: self.words }),
                Kind::Flag if is_optional => {
                    let numbers = self.flags.iter().map(|flag| i64::from(*flag)).collect();
                    (self.flags.len(), ColumnData::from_present(numbers, None))
                }
                Kind::Flag => (self.flags.len(), ColumnData::Flags(self.flags)),
                _ => (self.numbers.len(), ColumnData::Integers { values: self.numbers, valid: None }),
            };
            return (found == picked).then_some(data);
        }
        let are_there = |valid: &[bool]| valid.iter().filter(|valid| **valid).count();
        let values = if kind == Kind::Flag { self.flags.len() } else { self.numbers.len() };
        let (expected, told) = match (is_optional, self.valid.is_empty()) {
            (false, _) => (rows, rows),
            (true, true) => (self.complete, self.complete),
            (true, false) => (are_there(&self.valid), self.valid.len()),
        };
        if values != expected || told != rows {
            return None;
        }
        let valid = Some(self.valid).filter(|valid| !valid.is_empty());
        Some(match kind {
            Kind::Flag if is_optional => {
                let numbers = self.flags.iter().map(|flag| i64::from(*flag)).collect();
                ColumnData::from_present(numbers, Some(valid.unwrap_or_else(|| vec![true; rows])))
            }
            Kind::Flag => ColumnData::Flags(self.flags),
            Kind::Time | Kind::Integer => ColumnData::from_present(self.numbers, valid),
            Kind::Text => {
                let mut codes = self.numbers.into_iter().map(|code| u32::try_from(code).ok());
                let codes = match valid {
                    Some(valid) => valid.iter().map(|valid| valid.then(|| codes.next().flatten())?).collect(),
                    None => codes.collect(),
                };
                ColumnData::Texts { codes, words: self.words }
            }
        })
    }
}

/// Passes dictionary indices to `take`.
#[inline]
fn each_code(bytes: &mut Bytes<'_>, values: usize, take: impl FnMut(u32, usize) -> Option<()>) -> Option<()> {
    if values == 0 {
        return Some(());
    }
    let width = u32::from(bytes.byte()?);
    each_run(bytes, width, values, take)
}

pub(super) fn text<'a>(bytes: &mut Bytes<'a>) -> Option<Cow<'a, str>> {
    let length = bytes.length()?;
    let text = bytes.take(length)?;
    Some(str::from_utf8(text).map_or_else(|_| String::from_utf8_lossy(text), Cow::Borrowed))
}

pub(super) fn number(bytes: &[u8]) -> i64 {
    bytes.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

fn wrong(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

/// The bits of a byte, lowest first.
const BITS: [u8; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
pub(super) const DATA_PAGE: i64 = 0;
pub(super) const DICTIONARY_PAGE: i64 = 2;
const PLAIN: i64 = 0;
pub(super) const PLAIN_DICTIONARY: i64 = 2;
const DELTA: i64 = 5;
pub(super) const DICTIONARY: i64 = 8;
pub(super) const SPLIT: i64 = 9;
/// Maximum bytes of a page before compression.
const MAX_PAGE_BYTES: usize = 256 << 20;
/// Maximum bytes of the page buffer that a thread keeps.
const MAX_ROOM_BYTES: usize = 4 << 20;
/// Maximum numbers whose memory is allocated in advance.
const MAX_ROOM: usize = 1 << 20;
