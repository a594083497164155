//! Packed sketches beside a column that has them as texts.
//!
//! They are between the row groups, where the Parquet format allows other bytes, and only this program reads
//! them. The key-value pair `inband.packed_sketches` has, for each row group, their offset in the file, their
//! length when stored and when decompressed, and the CRC-32 of their stored bytes.

use parquet::file::metadata::KeyValue;

/// Where the packed sketches of a row group are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PackedPlace {
    /// Offset in the file.
    pub(super) start: u64,
    /// Bytes as stored, compressed with zstd.
    pub(super) stored: usize,
    /// Bytes when decompressed.
    pub(super) plain: usize,
    /// CRC-32 of the stored bytes.
    pub(super) checksum: u32,
}

/// The pair of a file with these row groups.
pub(super) fn pair(places: &[PackedPlace]) -> KeyValue {
    let place = |PackedPlace { start, stored, plain, checksum }: &PackedPlace| {
        format!("{start}:{stored}:{plain}:{checksum:08x}")
    };
    KeyValue::new(PACKED_KEY.to_owned(), places.iter().map(place).collect::<Vec<_>>().join(" "))
}

/// The places, as formatted by `pair`; `None` for anything else.
pub(super) fn parse(text: &str) -> Option<Vec<PackedPlace>> {
    let place = |text: &str| {
        let mut numbers = text.split(':');
        let start = numbers.next()?.parse().ok()?;
        let stored = numbers.next()?.parse().ok()?;
        let plain = numbers.next()?.parse().ok()?;
        let checksum = u32::from_str_radix(numbers.next()?, 16).ok()?;
        let is_sane = stored <= MAX_BYTES && plain <= MAX_BYTES && numbers.next().is_none();
        is_sane.then_some(PackedPlace { start, stored, plain, checksum })
    };
    text.split(' ').map(place).collect()
}

pub(super) const PACKED_KEY: &str = "inband.packed_sketches";
/// The column whose sketches are packed.
pub(super) const PACKED_COLUMN: &str = "latency_sketch";
/// Maximum bytes of the packed sketches of a row group.
const MAX_BYTES: usize = 256 << 20;

#[cfg(test)]
mod tests {
    use super::{PackedPlace, pair, parse};

    #[test]
    fn places_are_read_as_they_were_written_and_nothing_else() {
        let place = |start, checksum| PackedPlace { start, stored: 7, plain: 19, checksum };
        let places = [place(4, 0), place(u64::MAX, u32::MAX)];
        assert_eq!(parse(pair(&places).value.as_deref().unwrap()).unwrap(), places);
        for wrong in [
            "",
            "4",
            "4:7:19",
            "4:7:19:zz",
            "4:7:19:0:1",
            "-1:7:19:0",
            "4:7:999999999999:0",
            "4:7:19:0  4:7:19:0",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
