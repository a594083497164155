//! Why a probe was not forwarded, according to ICMP.

/// Why a router, or the destination, sent an ICMP message about a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// Its TTL expired.
    TimeExceeded,
    /// It was delivered, and nothing listens at its port, or to its protocol.
    NotTaken,
    /// It could not be delivered, for this reason.
    Undeliverable(&'static str),
}

impl Cause {
    /// The cause in an ICMP or ICMPv6 message; `None`: the message is about something else.
    pub(super) const fn of(is_ipv4: bool, kind: u8, code: u8) -> Option<Self> {
        Some(match (is_ipv4, kind, code) {
            (true, 11, 0) | (false, 3, 0) => Self::TimeExceeded,
            (true, 3, 2 | 3) | (false, 1, 4) => Self::NotTaken,
            (true, 3, code) => Self::Undeliverable(match code {
                0 | 5 | 6 | 8 | 11 => "no route",
                1 | 7 | 12 => "host unreachable",
                4 => "too big",
                9 | 10 | 13 => "prohibited",
                _ => "unreachable",
            }),
            (false, 1, code) => Self::Undeliverable(match code {
                0 | 6 => "no route",
                1 | 5 => "prohibited",
                3 => "host unreachable",
                _ => "unreachable",
            }),
            (false, 2, _) => Self::Undeliverable("too big"),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Cause;

    #[test]
    fn only_a_port_or_protocol_that_nothing_uses_shows_that_a_probe_arrived() {
        let arrived = |is_ipv4: bool, kind: u8| -> Vec<u8> {
            (0..=15).filter(|code| Cause::of(is_ipv4, kind, *code) == Some(Cause::NotTaken)).collect()
        };

        assert_eq!(arrived(true, 3), [2, 3]);
        assert_eq!(arrived(false, 1), [4]);
        assert_eq!((arrived(true, 11), arrived(false, 3)), (vec![], vec![]));
    }

    #[test]
    fn the_reason_is_that_of_the_code() {
        for (is_ipv4, kind, code, reason) in [
            (true, 3, 0, "no route"),
            (true, 3, 1, "host unreachable"),
            (true, 3, 4, "too big"),
            (true, 3, 13, "prohibited"),
            (false, 1, 0, "no route"),
            (false, 1, 1, "prohibited"),
            (false, 1, 3, "host unreachable"),
            (false, 2, 0, "too big"),
        ] {
            assert_eq!(Cause::of(is_ipv4, kind, code), Some(Cause::Undeliverable(reason)), "{kind}/{code}");
        }
        assert_eq!(Cause::of(true, 11, 0), Some(Cause::TimeExceeded));
        assert_eq!(Cause::of(true, 11, 1), None, "fragments that were not put together");
        assert_eq!(Cause::of(false, 3, 0), Some(Cause::TimeExceeded));
        assert_eq!(Cause::of(true, 8, 0), None);
    }
}
