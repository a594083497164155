//! Fuzz target for explanations of pasted bytes.

use inband_explain::explain;
use inband_model::api::DecodeStart;

/// The first byte selects what the rest starts with: a report, an Ethernet frame or an IP packet.
///
/// # Panics
/// A field outside the bytes, columns of unequal length, or an error past the end.
pub fn explain_bytes(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else { return };
    let start = [DecodeStart::Report, DecodeStart::Ethernet, DecodeStart::Ip][usize::from(choice % 3)];
    let decoded = explain(bytes, start);
    assert_eq!(decoded.hex.len(), bytes.len() * 2);
    let fields = &decoded.fields;
    let count = fields.name.len();
    assert_eq!(
        [fields.value.len(), fields.at.len(), fields.bit.len(), fields.bits.len(), fields.requirement.len()],
        [count; 5]
    );
    for place in 0..count {
        let end =
            fields.at[place] as usize * 8 + usize::from(fields.bit[place]) + fields.bits[place] as usize;
        assert!(end <= bytes.len() * 8, "{} ends at bit {end} of {}", fields.name[place], bytes.len() * 8);
    }
    if let Some(fault) = decoded.error {
        assert!(fault.at as usize <= bytes.len(), "{} of {}: {}", fault.at, bytes.len(), fault.error);
    }
}
