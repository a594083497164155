//! What does the btf target do with its input?

use inband_host::drops::enumerators;

/// Reads the kernel's reasons to drop packets from a description of its types.
///
/// # Panics
/// More reasons than there is room for, or a cut description that has more than the whole one.
pub(crate) fn btf(input: &[u8]) {
    let read = |bytes| enumerators(bytes, "skb_drop_reason").unwrap_or_default();
    let reasons = read(input);
    // Each takes two words.
    assert!(reasons.len() <= input.len() / 8);
    for (name, _) in &reasons {
        assert!(!name.contains('\0') && name.len() <= 3 * input.len());
    }
    let cut = input.get(..input.len() / 2).unwrap_or_default();
    assert!(read(cut).len() <= cut.len() / 8);
}
