//! An answer as a Parquet file.

use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::question::{Answer, Cell, QueryError};

/// The type in which all values of a column can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Integer,
    Real,
    Text,
}

impl Answer {
    /// The rows as a Parquet file. Each column is nullable, and holds integers, floating-point numbers or
    /// strings.
    ///
    /// # Errors
    /// The column names do not make a valid schema.
    pub fn to_parquet(&self) -> Result<Vec<u8>, QueryError> {
        self.parquet()
            .map_err(|error| QueryError::Question(format!("the answer is not written as Parquet: {error}")))
    }

    fn parquet(&self) -> Result<Vec<u8>, ParquetError> {
        let shapes: Vec<Shape> = (0..self.columns.len())
            .map(|column| Shape::of(self.rows.iter().map(|row| &row[column])))
            .collect();
        let names = self.distinct_columns();
        let fields = names.iter().zip(&shapes).map(|(name, shape)| shape.field(name).map(Arc::new));
        let schema =
            Type::group_type_builder("answer").with_fields(fields.collect::<Result<_, _>>()?).build()?;
        let compression = Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?);
        let properties = WriterProperties::builder().set_compression(compression).build();
        let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
        for rows in self.rows.chunks(GROUP_ROWS) {
            let mut group = file.next_row_group()?;
            let mut at = 0;
            while let Some(mut column) = group.next_column()? {
                let cells = || rows.iter().map(|row| &row[at]);
                let is_there: Vec<i16> = cells().map(|cell| i16::from(*cell != Cell::Null)).collect();
                match column.untyped() {
                    ColumnWriter::Int64ColumnWriter(writer) => writer.write_batch(
                        &cells().filter_map(integer).collect::<Vec<_>>(),
                        Some(&is_there),
                        None,
                    )?,
                    ColumnWriter::DoubleColumnWriter(writer) => writer.write_batch(
                        &cells().filter_map(real).collect::<Vec<_>>(),
                        Some(&is_there),
                        None,
                    )?,
                    ColumnWriter::ByteArrayColumnWriter(writer) => writer.write_batch(
                        &cells().filter_map(text).collect::<Vec<_>>(),
                        Some(&is_there),
                        None,
                    )?,
                    _ => return Err(ParquetError::General("a column of another kind".to_owned())),
                };
                column.close()?;
                at += 1;
            }
            group.close()?;
        }
        file.into_inner()
    }
}

impl Shape {
    fn of<'a>(cells: impl Iterator<Item = &'a Cell>) -> Self {
        let of_cell = |cell: &Cell| match cell {
            Cell::Null | Cell::Integer(_) => Self::Integer,
            Cell::Real(_) => Self::Real,
            Cell::Text(_) => Self::Text,
        };
        cells.map(of_cell).fold(Self::Integer, |all, one| match (all, one) {
            (Self::Text, _) | (_, Self::Text) => Self::Text,
            (Self::Real, _) | (_, Self::Real) => Self::Real,
            (Self::Integer, Self::Integer) => Self::Integer,
        })
    }

    fn field(self, name: &str) -> Result<Type, ParquetError> {
        let (physical, logical) = match self {
            Self::Integer => (Physical::INT64, None),
            Self::Real => (Physical::DOUBLE, None),
            Self::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(name, physical);
        field.with_repetition(Repetition::OPTIONAL).with_logical_type(logical).build()
    }
}

fn integer(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Integer(number) => Some(*number),
        _ => None,
    }
}

#[allow(clippy::cast_precision_loss, reason = "a column with fractions holds its whole numbers as such too")]
fn real(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Integer(number) => Some(*number as f64),
        Cell::Real(number) => Some(*number),
        _ => None,
    }
}

fn text(cell: &Cell) -> Option<ByteArray> {
    match cell {
        Cell::Null => None,
        Cell::Integer(number) => Some(ByteArray::from(number.to_string().into_bytes())),
        Cell::Real(number) => Some(ByteArray::from(number.to_string().into_bytes())),
        Cell::Text(text) => Some(ByteArray::from(text.as_bytes().to_vec())),
    }
}

const GROUP_ROWS: usize = 65_536;
const ZSTD_LEVEL: i32 = 1;

#[cfg(test)]
mod tests {
    use std::fs::File;

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::{Answer, Cell};
    use crate::sample::Folder;

    fn read(bytes: &[u8]) -> (Folder, SerializedFileReader<File>) {
        let folder = Folder::new();
        let path = folder.path().join("answer.parquet");
        std::fs::write(&path, bytes).unwrap();
        (folder, SerializedFileReader::new(File::open(path).unwrap()).unwrap())
    }

    #[test]
    fn a_file_of_parquet_has_the_rows_of_the_answer() {
        let rows = vec![
            vec![Cell::Integer(i64::MAX), Cell::Null, Cell::Text("=\u{1f980}".to_owned()), Cell::Null],
            vec![Cell::Integer(-1), Cell::Real(0.5), Cell::Integer(7), Cell::Null],
            vec![Cell::Null, Cell::Integer(3), Cell::Null, Cell::Null],
        ];
        let columns = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let bytes = Answer { columns, rows, ..Answer::default() }.to_parquet().unwrap();
        let (_folder, reader) = read(&bytes);
        let read: Vec<Vec<Field>> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect())
            .collect();
        assert_eq!(
            read,
            [
                [Field::Long(i64::MAX), Field::Null, Field::Str("=\u{1f980}".to_owned()), Field::Null],
                [Field::Long(-1), Field::Double(0.5), Field::Str("7".to_owned()), Field::Null],
                [Field::Null, Field::Double(3.0), Field::Null, Field::Null],
            ]
        );
    }

    #[test]
    fn columns_of_one_name_are_columns_of_their_own_in_a_file() {
        let columns = ["s", "s", "s_1", "s"].map(str::to_owned).to_vec();
        let bytes = Answer { columns, ..Answer::default() }.to_parquet().unwrap();
        let (_folder, reader) = read(&bytes);
        let schema = reader.metadata().file_metadata().schema_descr();
        let names: Vec<&str> = (0..4).map(|at| schema.columns()[at].name()).collect();
        assert_eq!(names, ["s", "s_2", "s_1", "s_3"]);
    }

    #[test]
    fn an_answer_without_rows_is_a_file_with_its_columns() {
        let bytes = Answer { columns: vec!["only".to_owned()], ..Answer::default() }.to_parquet().unwrap();
        let (_folder, reader) = read(&bytes);
        let metadata = reader.metadata().file_metadata();
        assert_eq!((metadata.num_rows(), metadata.schema_descr().column(0).name()), (0, "only"));
    }
}
