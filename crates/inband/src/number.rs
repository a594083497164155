//! Numbers as users write them, decimal or hexadecimal with `0x`, and as users read them.

/// Reads a number of type `T`.
pub(crate) fn number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let digits = text.replace('_', "");
    let parsed = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) if !hex.starts_with('+') => u64::from_str_radix(hex, 16),
        Some(_) => return Err("not a number".to_owned()),
        None => digits.parse(),
    };
    let value =
        parsed.map_err(|_| "not a number; write it in decimal, or in hexadecimal with 0x".to_owned())?;
    T::try_from(value).map_err(|_| format!("more than {} bits", size_of::<T>() * 8))
}

/// A count of things in words: `1 report`, `2 reports`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

#[cfg(test)]
mod tests;
