//! A type is too large by its fields and its files together.

use super::check_crate;
use crate::source::Source;

#[test]
fn thirteen_fields_and_four_files_are_too_much() {
    assert_eq!(found(13, 4), ["Node"]);
}

#[test]
fn fewer_fields_or_fewer_files_are_not() {
    assert_eq!(found(12, 4), Vec::<String>::new());
    assert_eq!(found(13, 3), Vec::<String>::new());
}

#[test]
fn fields_are_counted_without_their_types_and_what_is_nested_in_them() {
    let mut sources = sources(12, 4);
    let code = sources[0].text.replace("pub f0: u8,", "f0: std::vec::Vec<(std::primitive::u8, [u8; 4])>,");
    sources[0] = Source::new("crates/x/src/lib.rs", code);

    assert_eq!(names(&sources), Vec::<String>::new());
}

#[test]
fn a_type_of_the_same_name_in_another_file_is_another_type() {
    let mut sources = sources(13, 3);
    sources.push(Source::new("crates/x/src/other.rs", "struct Node { a: u8 }\nimpl Node {}\n"));

    assert_eq!(names(&sources), Vec::<String>::new());
}

fn found(fields: usize, files: usize) -> Vec<String> {
    names(&sources(fields, files))
}

fn names(sources: &[Source]) -> Vec<String> {
    let problems = check_crate("crates/x/src", sources).into_iter();
    problems.filter_map(|problem| problem.what.split('`').nth(1).map(str::to_owned)).collect()
}

/// A crate with a type of `fields` fields, and `impl` blocks in that many files.
fn sources(fields: usize, files: usize) -> Vec<Source> {
    let fields: String = (0..fields).map(|field| format!("    pub f{field}: u8,\n")).collect();
    let lib = format!("pub struct Node<'a> {{\n{fields}}}\nimpl<T: Into<u8>> Clone for Node<'_> {{}}\n");
    let part = |part: usize| {
        Source::new(format!("crates/x/src/part{part}.rs"), "use crate::Node;\nimpl Node<'_> {\n}\n")
    };
    std::iter::once(Source::new("crates/x/src/lib.rs", lib)).chain((1..files).map(part)).collect()
}
