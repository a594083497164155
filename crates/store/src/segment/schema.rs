//! The schema and metadata in the footer of a segment.

use std::sync::Arc;

use inband_model::table::{Kind, SCHEMA_VERSION, Shape};
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::schema::types::{Type, TypePtr};

use super::format::{TABLE_KEY, VERSION_KEY};

pub(super) fn schema(shape: &Shape) -> Result<TypePtr, ParquetError> {
    let mut fields = Vec::new();
    for (name, kind, optional, _) in &shape.columns {
        let (physical, logical) = match kind {
            Kind::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::NANOS))),
            Kind::Integer => (Physical::INT64, None),
            Kind::Flag => (Physical::BOOLEAN, None),
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = if *optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()?;
        fields.push(Arc::new(field));
    }
    Ok(Arc::new(Type::group_type_builder(shape.name).with_fields(fields).build()?))
}

/// The metadata of a segment.
pub(super) fn pairs(shape: &Shape) -> Vec<KeyValue> {
    let pair = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    vec![pair(VERSION_KEY, SCHEMA_VERSION.to_string()), pair(TABLE_KEY, shape.name.to_owned())]
}
