//! The list of fields, in the order they are found.

use inband_model::api::DecodedFields;

/// The fields of some bytes.
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    columns: DecodedFields,
    left_out: u32,
}

/// The position of a field: its first byte, the first bit in it, and its width in bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bits {
    pub(super) at: usize,
    pub(super) bit: usize,
    pub(super) bits: usize,
}

/// A field of a header: its name, its width in bits, and the requirement that defines it.
pub(super) type Layout = (&'static str, usize, Option<&'static str>);

impl<'a> Fields<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, columns: DecodedFields::default(), left_out: 0 }
    }

    pub(super) fn finish(self) -> (DecodedFields, u32) {
        (self.columns, self.left_out)
    }

    /// Adds a header or another part, as far as the bytes reach.
    pub(super) fn part(&mut self, depth: u8, name: &str, at: usize, length: usize, meaning: Option<String>) {
        let length = length.min(self.bytes.len().saturating_sub(at));
        self.add(depth, name, Bits { at, bit: 0, bits: length * 8 }, (None, meaning), None);
    }

    /// Adds the fields of a header that starts at byte `at`, and returns the offset after them. Fields past
    /// the end of the bytes are left out.
    pub(super) fn header(
        &mut self,
        depth: u8,
        at: usize,
        layout: &[Layout],
        mean: impl Fn(&str, u64) -> Option<String>,
    ) -> usize {
        let mut bit = 0;
        for (name, bits, requirement) in layout {
            let place = Bits { at: at + bit / 8, bit: bit % 8, bits: *bits };
            bit += bits;
            let Some(value) = self.number(place) else { break };
            let meaning = mean(name, value);
            self.add(depth, name, place, (Some(value), meaning), *requirement);
        }
        at + bit / 8
    }

    /// The number at a position; `None` when the bytes end before it.
    fn number(&self, Bits { at, bit, bits }: Bits) -> Option<u64> {
        let bytes = self.bytes.get(at..at + (bit + bits).div_ceil(8))?;
        let all = bytes.iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
        let behind = bytes.len() * 8 - bit - bits;
        u64::try_from(all >> behind & ((1_u128 << bits) - 1)).ok()
    }

    fn add(
        &mut self,
        depth: u8,
        name: &str,
        place: Bits,
        (value, meaning): (Option<u64>, Option<String>),
        requirement: Option<&str>,
    ) {
        let columns = &mut self.columns;
        if columns.name.len() >= MAX_FIELDS {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        columns.depth.push(depth);
        columns.name.push(name.to_owned());
        columns.value.push(value.map(|value| value.to_string()));
        columns.meaning.push(meaning);
        columns.at.push(narrow(place.at));
        columns.bit.push(u8::try_from(place.bit).unwrap_or(0));
        columns.bits.push(narrow(place.bits));
        columns.requirement.push(requirement.map(str::to_owned));
    }
}

pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Maximum number of fields listed.
const MAX_FIELDS: usize = 4_096;
