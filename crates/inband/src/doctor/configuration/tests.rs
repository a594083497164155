use toml::Table;

use super::Kind;

#[test]
fn the_tables_of_a_file_say_what_it_configures() {
    for (text, kind) in [
        ("[node]\nid = 1\n[host]\ndevices = [\"eth0\"]\n", Kind::Host),
        ("[node]\nid = 1\n", Kind::Node),
        ("[[node]]\nid = 1\nname = \"leaf1\"\n", Kind::Names),
        ("[[host]]\naddress = \"10.0.0.1\"\nname = \"web\"\n", Kind::Names),
        ("[receive]\nlisten = [\"127.0.0.1:32766\"]\n", Kind::Collector),
        ("", Kind::Collector),
        ("[[host]]\nname = \"h1\"\n[[link]]\nends = [\"h1\", \"s1\"]\n", Kind::Lab),
        ("[[switch]]\nname = \"s1\"\n", Kind::Lab),
    ] {
        let table: Table = toml::from_str(text).unwrap();
        assert_eq!(Kind::of(&table), kind, "{text}");
    }
}
