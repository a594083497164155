//! How are numbers written on the command line? Decimal, or hexadecimal with `0x`.

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

#[cfg(test)]
mod tests;
