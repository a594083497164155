//! Bytes in hexadecimal, for tests.

/// Parses hexadecimal digits; spaces and line ends between them, and text from `#` to the end of a line, are
/// ignored.
///
/// # Panics
/// Any other character, because it is a mistake in the test.
#[must_use]
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .lines()
        .flat_map(|line| line.split('#').next().unwrap_or_default().chars())
        .filter(|digit| !digit.is_whitespace())
        .map(|digit| {
            let value = digit.to_digit(16).unwrap_or_else(|| panic!("{digit:?} is no hexadecimal digit"));
            u8::try_from(value).expect("a hexadecimal digit is less than 16")
        })
        .collect();
    assert!(digits.len().is_multiple_of(2), "an odd number of hexadecimal digits: {text}");
    digits.as_chunks::<2>().0.iter().map(|[high, low]| high << 4 | low).collect()
}
