//! Patterns of device names.

/// Whether `name` matches `pattern`, in which `*` stands for any characters.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(first) else { return false };
    let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
    ends.into_iter().any(|at| name.get(at..).is_some_and(|left| matches(rest, left)))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, fits) in [
            ("eth0", "eth0", true),
            ("eth0", "eth00", false),
            ("veth*", "veth", true),
            ("veth*", "veth1a2b", true),
            ("veth*", "xveth", false),
            ("*", "", true),
            ("e*1", "enp3s1", true),
            ("e*1", "enp3s10", false),
            ("e*s*0", "enp3s10", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
