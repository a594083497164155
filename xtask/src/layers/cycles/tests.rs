use super::check_crate;
use crate::layers::imports::{Name, names_of};
use crate::source::Source;

#[test]
fn two_files_that_import_each_other_are_named_with_their_lines() {
    let found = check(&[
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "use crate::b::B;\npub(crate) struct A(B);\n"),
        ("b.rs", "\npub(crate) struct B(Box<crate::a::A>);\n"),
    ]);

    assert_eq!(
        found,
        "src/a.rs: import cycle between 2 files:\n    src/a.rs:1 imports src/b.rs\n    src/b.rs:2 imports src/a.rs"
    );
}

#[test]
fn a_parent_and_a_child_that_use_each_other_are_a_cycle() {
    let found = check(&[
        ("lib.rs", "mod a;\n"),
        ("a.rs", "mod child;\nuse child::Child;\npub(crate) struct A(Child);\n"),
        ("a/child.rs", "use super::A;\npub(super) struct Child(Option<Box<A>>);\n"),
    ]);

    assert!(found.starts_with("src/a.rs: import cycle between 2 files"), "{found}");
}

#[test]
fn a_declared_module_and_a_reexport_are_no_imports() {
    let found = check(&[
        ("lib.rs", "mod a;\n"),
        ("a/mod.rs", "mod child;\npub(crate) use child::Child;\npub(crate) const LIMIT: usize = 1;\n"),
        ("a/child.rs", "use super::LIMIT;\npub(crate) struct Child([u8; LIMIT]);\n"),
    ]);

    assert_eq!(found, "");
}

#[test]
fn a_reexport_that_the_file_uses_itself_is_an_import() {
    let found = check(&[
        ("lib.rs", "mod a;\n"),
        ("a/mod.rs", "mod child;\npub(crate) use child::Child;\npub(crate) struct A(Child);\n"),
        ("a/child.rs", "use super::A;\npub(crate) struct Child(Option<Box<A>>);\n"),
    ]);

    assert!(found.contains("import cycle between 2 files"), "{found}");
}

#[test]
fn an_item_is_found_where_it_is_defined_behind_reexports() {
    let found = check(&[
        ("lib.rs", "mod a;\nmod b;\npub use a::Deep;\n"),
        ("a.rs", "mod deep;\npub use deep::Deep;\n"),
        ("a/deep.rs", "use crate::b::B;\npub struct Deep(B);\n"),
        ("b.rs", "pub struct B(Option<Box<crate::Deep>>);\n"),
    ]);

    assert!(found.starts_with("src/a/deep.rs: import cycle between 2 files"), "{found}");
}

#[test]
fn tests_comments_and_literals_do_not_import() {
    let found = check(&[
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "use crate::b::B;\npub struct A(B);\n"),
        ("b.rs", "// crate::a::A\npub struct B;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n"),
        ("b/tests.rs", "use crate::a::A;\n"),
    ]);

    assert_eq!(found, "");
}

#[test]
fn a_tree_of_names_is_opened_to_its_leaves() {
    let names = names_of("crate::{a::{self, B as C}, d::*, e}");

    let expected = [
        ("a", &["crate", "a"][..]),
        ("C", &["crate", "a", "B"]),
        ("*", &["crate", "d"]),
        ("e", &["crate", "e"]),
    ];
    let expected: Vec<Name> = expected
        .iter()
        .map(|(name, path)| Name {
            name: (*name).into(),
            path: path.iter().map(|segment| (*segment).to_owned()).collect(),
        })
        .collect();
    assert_eq!(names, expected);
}

/// The cycles of a crate that consists of `files`, one per line.
fn check(files: &[(&str, &str)]) -> String {
    let sources: Vec<Source> =
        files.iter().map(|(path, text)| Source::new(format!("src/{path}"), *text)).collect();
    let problems: Vec<String> = check_crate("src", &sources).iter().map(ToString::to_string).collect();
    problems.join("\n")
}
