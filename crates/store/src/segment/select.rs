//! Selection of the rows of a column chunk whose value passes a test, without a value for each row.

use parquet::errors::ParquetError;

use super::decode::{
    DATA_PAGE, DICTIONARY, DICTIONARY_PAGE, Layout, PLAIN_DICTIONARY, SPLIT, number, text, with_plain,
};
use super::header::PageHeader;
use super::split::sorted_split;
use super::unpack::{Bytes, each_picked, each_run};
use crate::history::ValueTest;

/// The rows, out of `layout.picked` or all, whose value passes a test; each distinct value is tested once,
/// and sorted numbers are searched. `None` unless no value is missing, and they are in a dictionary and its
/// codes in one page, or sorted in one page.
pub(super) fn rows_with(
    bytes: &[u8],
    layout: Layout<'_>,
    test: ValueTest<'_>,
) -> Result<Option<Vec<u32>>, ParquetError> {
    let mut bytes = Bytes(bytes);
    let mut next = || {
        let header = PageHeader::read(&mut bytes)?;
        Some((header, bytes.take(header.stored_bytes)?))
    };
    let Some((first, stored)) = next() else { return Ok(None) };
    let is_whole = first.page_type == DATA_PAGE && first.values == layout.rows;
    let is_sorted = layout.is_sorted && !layout.is_optional && is_whole && first.encoding == SPLIT;
    if let (ValueTest::Range(least, greatest), None, true) = (test, layout.picked, is_sorted) {
        let search = |page: &[u8]| {
            let rows = sorted_split(page, first.values, least, greatest)?;
            Some((u32::try_from(rows.start).ok()?..u32::try_from(rows.end).ok()?).collect())
        };
        return with_plain(stored, &first, layout.compression, search);
    }
    if first.page_type != DICTIONARY_PAGE {
        return Ok(None);
    }
    let pass: Option<Vec<bool>> = with_plain(stored, &first, layout.compression, |page| match test {
        ValueTest::Number(_) | ValueTest::Range(..) => {
            Some(page.chunks_exact(size_of::<i64>()).map(|word| test.passes(number(word))).collect())
        }
        ValueTest::Text(test) => {
            let mut bytes = Bytes(page);
            (0..first.values).map(|_| Some(test(&text(&mut bytes)?))).collect()
        }
    })?;
    let Some(pass) = pass else { return Ok(None) };
    let is_whole = |header: &PageHeader| {
        header.page_type == DATA_PAGE
            && header.values == layout.rows
            && [PLAIN_DICTIONARY, DICTIONARY].contains(&header.encoding)
    };
    let Some((data, stored)) = next().filter(|(header, _)| is_whole(header)) else { return Ok(None) };
    if !pass.contains(&true) {
        return Ok(Some(Vec::new()));
    }
    with_plain(stored, &data, layout.compression, |page| {
        let mut bytes = Bytes(page);
        if layout.is_optional && !are_all_there(&mut bytes, layout.rows)? {
            return None;
        }
        let width = u32::from(bytes.byte()?);
        let mut found = Vec::new();
        match layout.picked {
            Some(rows) => each_picked(&mut bytes, width, layout.rows, rows, |row, code| {
                if *pass.get(code as usize)? {
                    found.push(u32::try_from(row).ok()?);
                }
                Some(())
            })?,
            None => {
                let mut row = 0_u32;
                each_run(&mut bytes, width, layout.rows, |code, length| {
                    let end = row.checked_add(u32::try_from(length).ok()?)?;
                    if *pass.get(code as usize)? {
                        found.extend(row..end);
                    }
                    row = end;
                    Some(())
                })?;
            }
        }
        Some(found)
    })
}

/// Reads which rows have a value; returns whether all do.
fn are_all_there(bytes: &mut Bytes<'_>, rows: usize) -> Option<bool> {
    let length = bytes.length()?;
    let (mut levels, mut all) = (Bytes(bytes.take(length)?), true);
    each_run(&mut levels, 1, rows, |level, _| {
        all &= level != 0;
        Some(())
    })?;
    Some(all)
}
