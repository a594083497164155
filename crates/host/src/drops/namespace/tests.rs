use std::path::Path;

use super::{Namespace, Namespaces, files, is_pattern};

#[test]
fn a_star_is_in_the_last_name_of_an_absolute_path() {
    for (pattern, is_right) in [
        ("/run/netns/*", true),
        ("/run/netns/cni-*", true),
        ("/proc/1/ns/net", true),
        ("netns/*", false),
        ("/run/*/netns", false),
        ("/", false),
    ] {
        assert_eq!(is_pattern(Path::new(pattern)), is_right, "{pattern}");
    }
}

#[test]
fn what_is_no_namespace_is_left_out_and_each_is_named_once() {
    let own = Namespace::own().unwrap();
    let patterns = ["/proc/self/ns/ne*", "/proc/self/stat*", "/does/not/exist/*", "/etc/hostname"];
    let patterns = patterns.map(|pattern| Path::new(pattern).to_owned());

    assert_eq!(files(&patterns[0]), [Path::new("/proc/self/ns/net")]);
    assert_eq!(Namespaces::new(&patterns).present().unwrap(), (vec![own], 0));
    Namespace::at(Path::new("/etc/hostname")).unwrap_err();
}
