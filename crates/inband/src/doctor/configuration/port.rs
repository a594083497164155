//! Whether sockets of this machine may get the UDP port of INT.

use super::super::finding::{Area, Finding};
use super::super::kernel::System;

/// A datagram to the port of INT looks like one with INT. A socket that asks for any port may get this one,
/// unless it is outside of the range of such ports, or reserved.
pub(super) fn port_of_int(system: &System<'_>, port: u16, commands: &[&'static str]) -> Finding {
    let finding =
        |found: String| Finding::ok(Area::Configuration, "port of INT", format!("{port}, {found}"), commands);
    let Some(range) = system.line(RANGE).and_then(|range| range_of(&range)) else {
        return finding("the ports of other sockets are unknown".to_owned());
    };
    let reserved = system.line(RESERVED).unwrap_or_default();
    let is_reserved =
        reserved.split(',').filter_map(|part| range_of(&part.replace('-', " "))).any(|part| part.holds(port));
    match (range.holds(port), is_reserved) {
        (false, _) => finding(format!("outside of {} to {}", range.first, range.last)),
        (true, true) => finding("reserved".to_owned()),
        (true, false) => {
            let all = if reserved.is_empty() { port.to_string() } else { format!("{reserved},{port}") };
            finding("any socket may get it".to_owned()).degraded(
                "datagrams to such a socket get no INT, and may be taken for INT",
                format!("sudo sysctl -w net.ipv4.ip_local_reserved_ports={all}"),
            )
        }
    }
}

/// Ports, from the first to the last.
struct Range {
    first: u16,
    last: u16,
}

impl Range {
    fn holds(&self, port: u16) -> bool {
        (self.first..=self.last).contains(&port)
    }
}

/// One number, or two.
fn range_of(text: &str) -> Option<Range> {
    let mut numbers = text.split_whitespace().map(str::parse);
    let first = numbers.next()?.ok()?;
    let last = numbers.next().unwrap_or(Ok(first)).ok()?;
    Some(Range { first, last })
}

const RANGE: &str = "proc/sys/net/ipv4/ip_local_port_range";
const RESERVED: &str = "proc/sys/net/ipv4/ip_local_reserved_ports";

#[cfg(test)]
mod tests {
    use super::super::super::finding::Status;
    use super::super::super::kernel::tests::Root;
    use super::{RANGE, RESERVED, port_of_int};

    fn look(range: &str, reserved: &str) -> (Status, Vec<String>) {
        let root = Root::new(&[(RANGE, range), (RESERVED, reserved)]);
        let finding = port_of_int(&root.system(), 33_122, &["host"]);
        (finding.status, finding.fix)
    }

    #[test]
    fn a_port_that_other_sockets_may_get_is_to_be_reserved() {
        let fixed = |ports: &str| {
            (Status::Degraded, vec![format!("sudo sysctl -w net.ipv4.ip_local_reserved_ports={ports}")])
        };
        for (range, reserved, expected) in [
            ("32768\t60999\n", "\n", fixed("33122")),
            ("33122\t33122\n", "8080,33123-33130\n", fixed("8080,33123-33130,33122")),
            ("32768\t60999\n", "8080,33122\n", (Status::Ok, vec![])),
            ("32768\t60999\n", "33000-34000\n", (Status::Ok, vec![])),
            ("33123\t60999\n", "\n", (Status::Ok, vec![])),
            ("32768\t33121\n", "\n", (Status::Ok, vec![])),
            ("", "", (Status::Ok, vec![])),
        ] {
            assert_eq!(look(range, reserved), expected, "{range:?} {reserved:?}");
        }
    }
}
