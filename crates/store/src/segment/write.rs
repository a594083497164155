//! Writing of segments: under a temporary name, made durable, then renamed.

use std::fs::{self, File};
use std::io::Write;
use std::net::IpAddr;
use std::path::Path;

use inband_model::HopColumns;
use inband_model::table::{
    BURSTS, Cells, EVENTS, FLOW_MINUTES, HOURS, MINUTES, PATHS, REPORTS, Shape, TOTALS, Table,
};
use parquet::errors::ParquetError;

use super::encode::ColumnEncoder;
use super::file::FileBuilder;
use super::format::{ROW_GROUP_ROWS, ZSTD_LEVEL};
use super::observations::write_hops;
use super::packed::PACKED_COLUMN;
use super::schema::{pairs, schema};
use crate::disk::sync_directory;
use crate::error::StoreError;
use crate::history::ColumnData;
use crate::layout::UNFINISHED;
use crate::order::Order;
use crate::sketch::PackedSketches;
use crate::source::integer;

/// Writes the rows of a segment; returns when they are durable under this name.
pub(crate) fn write<R>(path: &Path, table: &Table<R>, rows: &[R]) -> Result<(), StoreError> {
    write_file(path, |file| write_rows(file, table, rows))
}

/// Writes a segment of observations; returns when it is durable under this name.
pub(crate) fn write_observations(path: &Path, columns: &HopColumns, order: &Order) -> Result<(), StoreError> {
    write_file(path, |file| write_hops(file, columns, order))
}

/// Writes a segment from columns, one row group after another until there are no more.
pub(crate) fn write_columns(
    path: &Path,
    shape: &Shape,
    mut next: impl FnMut() -> Result<Option<Vec<ColumnData>>, StoreError>,
) -> Result<(), StoreError> {
    let mut failed = None;
    let written = write_file(path, |mut file| {
        let mut builder = FileBuilder::new(schema(shape)?, ZSTD_LEVEL)?;
        let mut encoder = ColumnEncoder::new();
        loop {
            let columns = match next() {
                Ok(Some(columns)) => columns,
                Ok(None) => break,
                Err(error) => {
                    failed = Some(error);
                    return Err(ParquetError::General("there are no more rows".to_owned()));
                }
            };
            let rows = columns.first().map_or(0, ColumnData::len);
            add_group(&mut builder, &mut encoder, shape, rows, columns.into_iter())?;
        }
        file.write_all(&builder.finish(pairs(shape))?)?;
        Ok(())
    });
    failed.map_or(written, Err)
}

fn write_file(path: &Path, write: impl FnOnce(File) -> Result<(), ParquetError>) -> Result<(), StoreError> {
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(StoreError::io("make", directory))?;
    let unfinished = path.with_extension(UNFINISHED);
    let written = write_unfinished(&unfinished, write);
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&unfinished);
        return written;
    }
    fs::rename(&unfinished, path).map_err(StoreError::io("rename", &unfinished))?;
    // The parent directories may be new too.
    for directory in path.ancestors().skip(1).take(4) {
        sync_directory(directory).map_err(StoreError::io("sync", directory))?;
    }
    Ok(())
}

fn write_unfinished(
    path: &Path,
    write: impl FnOnce(File) -> Result<(), ParquetError>,
) -> Result<(), StoreError> {
    let file = File::create(path).map_err(StoreError::io("create", path))?;
    let kept = file.try_clone().map_err(StoreError::io("create", path))?;
    write(file).map_err(StoreError::segment("write", path))?;
    kept.sync_all().map_err(StoreError::io("sync", path))
}

fn write_rows<R>(mut file: File, table: &Table<R>, rows: &[R]) -> Result<(), ParquetError> {
    let shape = table.shape();
    let mut builder = FileBuilder::new(schema(&shape)?, ZSTD_LEVEL)?;
    let mut encoder = ColumnEncoder::new();
    // A question reads few rows with long texts, and few of those ordered by subject.
    let at_once = match table.name {
        name if LONG.contains(&name) => LONG_ROWS,
        name if BY_PLACE.contains(&name) => BY_PLACE_ROWS,
        name if name == FLOW_MINUTES.name => FLOW_MINUTE_ROWS,
        _ => ROW_GROUP_ROWS,
    };
    if table.name == FLOW_MINUTES.name
        && let Some(flow) = shape.column("flow_id")
        && let ColumnData::Integers { values, valid: None } = column_of(&table.columns[flow].cells, rows)
        && values.is_sorted()
    {
        builder.note_sorted(flow);
    }
    for rows in rows.chunks(at_once) {
        let columns = table.columns.iter().map(|column| column_of(&column.cells, rows));
        add_group(&mut builder, &mut encoder, &shape, rows.len(), columns)?;
    }
    file.write_all(&builder.finish(pairs(&shape))?)?;
    Ok(())
}

/// Adds a row group of `rows` rows.
fn add_group(
    builder: &mut FileBuilder,
    encoder: &mut ColumnEncoder,
    shape: &Shape,
    rows: usize,
    columns: impl Iterator<Item = ColumnData>,
) -> Result<(), ParquetError> {
    let mut packed = None;
    for ((name, _, is_optional, _), data) in shape.columns.iter().zip(columns) {
        encoder.put_column(&data, *is_optional, CLIMBING.contains(name));
        builder.add_column(rows, encoder.encoded())?;
        if let ColumnData::Texts { codes, words } = &data
            && *name == PACKED_COLUMN
            && PACKED.contains(&shape.name)
        {
            let text = |code: &Option<u32>| code.map_or("", |code| words.get(code as usize));
            packed = PackedSketches::pack(codes.iter().map(text));
        }
    }
    builder.end_group(rows)?;
    packed.map_or(Ok(()), |packed| builder.add_packed(&packed))
}

/// The values of a column.
pub(crate) fn column_of<R>(cells: &Cells<R>, rows: &[R]) -> ColumnData {
    match cells {
        Cells::Time(of) => ColumnData::of_integers(rows.iter().map(|row| integer(of(row).0))),
        Cells::Integer(of) => ColumnData::of_integers(rows.iter().map(|row| integer(of(row)))),
        Cells::OptionalInteger(of) => {
            ColumnData::of_optional_integers(rows.iter().map(|row| of(row).map(integer)))
        }
        Cells::Flag(of) => ColumnData::Flags(rows.iter().map(of).collect()),
        Cells::Word(of) => {
            ColumnData::of_texts(rows.iter().map(|row| Some(of(row))), |word| word.to_string())
        }
        Cells::Text(of) => ColumnData::of_texts(rows.iter().map(|row| Some(of(row))), |text| text),
        Cells::OptionalText(of) => ColumnData::of_texts(rows.iter().map(of), |text| text),
        Cells::OptionalAddress(of) => {
            ColumnData::of_texts(rows.iter().map(of), |address: IpAddr| address.to_string())
        }
    }
}

/// Tables whose rows are ordered by node or flow, and their rows per row group.
const BY_PLACE: [&str; 3] = [MINUTES.name, HOURS.name, PATHS.name];
pub(crate) const BY_PLACE_ROWS: usize = 2_048;
/// Minutes of flows are ordered by flow: a question about one flow reads one row group of each segment, and
/// one about all flows few.
const FLOW_MINUTE_ROWS: usize = 8_192;
/// Tables whose rows contain long texts, and their rows per row group.
const LONG: [&str; 3] = [EVENTS.name, REPORTS.name, BURSTS.name];
const LONG_ROWS: usize = 1_024;
/// Tables whose sketches are read for many rows at once, and are packed as well.
const PACKED: [&str; 3] = [MINUTES.name, HOURS.name, TOTALS.name];
/// Columns whose values are nearly all distinct, and ascending.
const CLIMBING: [&str; 1] = ["time"];
