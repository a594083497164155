//! Differences between actual and expected output.

use super::hex::Capture;

/// Compares text line by line.
pub(crate) fn text(name: &str, expected: &str, actual: &str) -> Result<(), String> {
    if expected == actual {
        return Ok(());
    }
    Err(format!("{name} differs (- expected, + actual)\n{}", difference(expected, actual)))
}

/// Compares packets with their times; comments in the text are ignored.
pub(crate) fn captures(name: &str, expected: &Capture, actual: &Capture) -> Result<(), String> {
    if expected == actual {
        return Ok(());
    }
    let difference = difference(&expected.to_string(), &actual.to_string());
    Err(format!("{name} differs (- expected, + actual)\n{difference}"))
}

/// The lines between the common prefix and the common suffix, with part of the prefix.
fn difference(expected: &str, actual: &str) -> String {
    let (expected, actual): (Vec<_>, Vec<_>) = (expected.lines().collect(), actual.lines().collect());
    let start = expected.iter().zip(&actual).take_while(|(a, b)| a == b).count();
    let (expected_rest, actual_rest) = (&expected[start..], &actual[start..]);
    let same = |(a, b): &(&&str, &&str)| a == b;
    let end = expected_rest.iter().rev().zip(actual_rest.iter().rev()).take_while(same).count();
    let before = expected[start.saturating_sub(CONTEXT)..start].iter().map(|line| format!("  {line}\n"));
    let removed = expected_rest[..expected_rest.len() - end].iter().map(|line| format!("- {line}\n"));
    let added = actual_rest[..actual_rest.len() - end].iter().map(|line| format!("+ {line}\n"));
    before.chain(removed).chain(added).collect()
}

/// Lines shown before the first difference.
const CONTEXT: usize = 6;
