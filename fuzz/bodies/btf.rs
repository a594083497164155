//! The body of the `btf` target.

use inband_host::drops::enumerators;

/// Reads the kernel's drop reasons from a description of its types (BTF).
///
/// # Panics
/// When the input or its first half gives more reasons than it has room for, or a name is too long or
/// contains NUL.
pub(crate) fn btf(input: &[u8]) {
    let read = |bytes| enumerators(bytes, "skb_drop_reason").unwrap_or_default();
    let reasons = read(input);
    // Each reason takes two words.
    assert!(reasons.len() <= input.len() / 8);
    for (name, _) in &reasons {
        assert!(!name.contains('\0') && name.len() <= 3 * input.len());
    }
    let cut = input.get(..input.len() / 2).unwrap_or_default();
    assert!(read(cut).len() <= cut.len() / 8);
}
