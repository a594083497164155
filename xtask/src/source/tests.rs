use super::{Source, blank, read_all};

#[test]
fn comments_and_literals_are_blanked_and_offsets_stay() {
    let text = "let a = \"std::fs\"; // std::net\nlet b = r#\"Mutex \" {\"#; /* a /* b */ c */ 'x' '\\'' 'ü' &'a str";

    let code = blank(text);

    assert_eq!(code.len(), text.len());
    assert_eq!(code.find('\n'), text.find('\n'));
    for literal in ["fs", "net", "Mutex", "{", "x", "ü", "c"] {
        assert!(!code.contains(literal), "{literal} is left in {code}");
    }
    assert!(code.ends_with("&'a str"));
}

#[test]
fn a_literal_that_never_ends_blanks_the_rest() {
    for text in ["x \"a", "x /* a", "x r#\"a\"", "x '\\", "x // a", "x \"\\"] {
        assert_eq!(blank(text).trim_end(), "x", "in {text}");
    }
}

#[test]
fn raw_identifiers_and_words_that_end_in_r_are_code() {
    assert_eq!(blank("r#type for"), "r#type for");
    assert_eq!(blank("br#\"x\"# wr\"x\""), "b       wr   ");
}

#[test]
fn an_inline_test_module_ends_with_its_brace() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { \"}\"; }\n}\nfn c() {}\n";
    let source = Source::new("crates/wire/src/lib.rs", text);

    assert!(!source.is_test(offset(text, "fn a")));
    assert!(source.is_test(offset(text, "fn b")));
    assert!(!source.is_test(offset(text, "fn c")));
}

#[test]
fn a_declared_test_module_ends_with_its_semicolon() {
    let text = "#[cfg(test)]\n#[path = \"x\"]\nmod tests;\nfn a() {}\n";
    let source = Source::new("crates/wire/src/lib.rs", text);

    assert!(source.is_test(offset(text, "mod tests")));
    assert!(!source.is_test(offset(text, "fn a")));
}

#[test]
fn tests_files_and_folders_are_tests_as_a_whole() {
    for path in ["crates/wire/src/md/tests.rs", "crates/inband/tests/golden.rs", "crates/testkit/src/lib.rs"]
    {
        assert!(Source::new(path, "fn a() {}").is_test(0), "{path}");
    }
    assert!(!Source::new("crates/wire/src/md.rs", "fn a() {}").is_test(0));
}

#[test]
fn places_count_lines_from_one() {
    let source = Source::new("a.rs", "one\ntwo\n");

    assert_eq!(source.place(0), "a.rs:1");
    assert_eq!(source.place(4), "a.rs:2");
}

#[test]
fn files_are_read_in_order_and_build_output_is_passed_over() {
    let root = tempfile::tempdir().unwrap();
    for path in ["crates/b/src/lib.rs", "crates/a/x.c", "crates/a/x.md", "crates/a/target/y.rs"] {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }

    let sources = read_all(root.path(), "crates", &["rs", "c"]).unwrap();

    let paths: Vec<_> = sources.iter().map(|source| source.path.as_str()).collect();
    assert_eq!(paths, ["crates/a/x.c", "crates/b/src/lib.rs"]);
}

fn offset(text: &str, part: &str) -> usize {
    text.find(part).expect("the part is in the text")
}
