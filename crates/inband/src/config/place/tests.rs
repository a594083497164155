//! Byte ranges and keys are located in the file.

use super::{Place, find_key};

const FILE: &str = "\
[node]
id = 1

[[interface]]
id = 1

[[interface]]
id = 2
mtu = \"é\"
queue = { name = 1, size = [3] }

[smart.queue.0]
trigger = 2000
";

fn place_of(text: &str) -> Place {
    let start = FILE.find(text).unwrap();
    Place::of(FILE, &(start..start + text.len()))
}

fn table_of(text: &str) -> Option<String> {
    place_of(text).table
}

#[test]
fn line_and_column_count_from_one_in_characters() {
    let place = place_of("trigger");
    assert_eq!((place.line, place.column), (13, 1));
    let text = "a = 1\nb = [\"éé\", 7]";
    let place = Place::of(text, &(19..20));
    assert_eq!((place.line, place.column), (2, 12));
}

#[test]
fn the_table_is_named_as_its_header_is_written() {
    assert_eq!(table_of("id = 1").as_deref(), Some("[node]"));
    assert_eq!(table_of("id = 2").as_deref(), Some("[[interface]]"));
    assert_eq!(table_of("\"é\"").as_deref(), Some("[[interface]]"));
    assert_eq!(table_of("size").as_deref(), Some("[interface.queue]"));
    assert_eq!(table_of("3]").as_deref(), Some("[interface.queue]"));
    assert_eq!(table_of("trigger").as_deref(), Some("[smart.queue.0]"));
    assert_eq!(Place::of("a = 1", &(0..1)).table, None);
}

#[test]
fn a_span_outside_the_text_is_brought_inside() {
    for span in [0..0, 3..900, 900..901] {
        let place = Place::of("é", &span);
        assert_eq!(place.line, 1);
    }
    assert_eq!(Place::of("a\nb", &(0..3)).width, 1);
}

#[test]
fn a_key_is_found_by_its_path() {
    let text = |key| find_key(FILE, key).map(|span| &FILE[span]);
    assert_eq!(text("node.id"), Some("1"));
    assert_eq!(text("smart.queue.0.trigger"), Some("2000"));
    assert!(text("node.missing").unwrap().starts_with("[node]"));
    assert_eq!(text("missing"), None);
}
