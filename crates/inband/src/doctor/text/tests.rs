use super::{Look, text, wrapped};
use crate::doctor::finding::{Area, Finding};
use crate::doctor::verdict::judge;

fn shown(width: usize, colours: bool) -> String {
    let findings = [
        Finding::ok(Area::Kernel, "version", "6.18.44", &["host"]),
        Finding::ok(Area::Clock, "source", "hpet", &["host"])
            .degraded("reading it is slow", "echo tsc | sudo tee x"),
        Finding::ok(Area::Bpf, "links", "not allowed", &["host"])
            .missing("INT needs them", "sudo inband doctor"),
    ];
    let verdicts = judge(&["decode", "host"].map(str::to_owned), &findings);
    text(&findings, &verdicts, Look { width, colours })
}

#[test]
fn findings_stand_by_area_with_what_mends_them() {
    let expected = "\
Kernel
  ✓ version  6.18.44

BPF
  ✗ links    not allowed
             host: INT needs them
             → sudo inband doctor

Clock
  ! source   hpet
             host: reading it is slow
             → echo tsc | sudo tee x

What works
  ✓ decode
  ✗ host does not work yet: links

What is behind an arrow mends it; then run `inband doctor` again.
";
    assert_eq!(shown(80, false), expected);
}

#[test]
fn colours_change_nothing_but_colour() {
    let coloured = shown(80, true);
    assert!(coloured.contains("\x1b[32m✓\x1b[0m") && coloured.contains("\x1b[31m✗\x1b[0m"));
    let plain = coloured.split('\x1b').enumerate().map(|(number, part)| match number {
        0 => part,
        _ => part.split_once('m').unwrap().1,
    });
    assert_eq!(plain.collect::<String>(), shown(80, false));
}

#[test]
fn lines_are_broken_at_spaces_and_words_are_not() {
    assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
    assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
    assert_eq!(wrapped("unbreakable", 4), ["unbreakable"]);
    assert_eq!(wrapped("", 4), [""]);
}
