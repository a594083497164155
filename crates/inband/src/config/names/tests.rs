//! The nearest known names are suggested.

use super::explain;

const INSTRUCTIONS: &str =
    "`node-id`, `level1-interfaces`, `hop-latency`, `queue-occupancy`, `ingress-timestamp`";

#[test]
fn an_unknown_key_names_the_nearest_known_one() {
    assert_eq!(
        explain("unknown field `mod`, expected one of `mode`, `instructions`", Some("[source]")),
        "unknown key `mod` in [source]; did you mean `mode`?"
    );
    assert_eq!(
        explain("unknown field `Mode`, expected `mode` or `instructions`", None),
        "unknown key `Mode`; did you mean `mode`?"
    );
    assert_eq!(explain("unknown field `x`, expected `id`", None), "unknown key `x`; expected `id`");
    assert_eq!(
        explain("unknown field `x`, there are no fields", None),
        "unknown key `x`; none is known here"
    );
}

#[test]
fn an_unknown_value_names_the_nearest_known_one() {
    assert_eq!(
        explain(
            "unknown variant `udpport`, expected one of `dscp`, `udp-port`, `udp`",
            Some("[encapsulation]")
        ),
        "unknown value `udpport` in [encapsulation]; did you mean `udp-port`?"
    );
}

#[test]
fn several_unknown_names_get_a_suggestion_each() {
    let message = format!("unknown instructions `nodeid`, `queue`; expected one of {INSTRUCTIONS}");
    assert_eq!(
        explain(&message, Some("[source]")),
        "unknown instructions `nodeid`, `queue` in [source]; did you mean `node-id`, `queue-occupancy`?"
    );
}

#[test]
fn a_name_like_no_other_lists_what_is_known() {
    let message = format!("unknown instructions `nodeid`, `zzz`; expected one of {INSTRUCTIONS}");
    assert_eq!(
        explain(&message, None),
        format!("unknown instructions `nodeid`, `zzz`; expected one of {INSTRUCTIONS}")
    );
}

#[test]
fn what_is_no_name_stays_among_what_is_expected() {
    let expected = "expected a number from 0 to 255 or one of `tcp`, `udp`";
    assert_eq!(
        explain(&format!("unknown protocol `tpc`, {expected}"), None),
        "unknown protocol `tpc`; did you mean `tcp`?"
    );
    assert_eq!(
        explain(&format!("unknown protocol `999`, {expected}"), None),
        format!("unknown protocol `999`; {expected}")
    );
}

#[test]
fn other_messages_stay_on_one_line() {
    assert_eq!(explain("missing field `id`", Some("[node]")), "missing key `id` in [node]");
    assert_eq!(explain("invalid string\nexpected `\"`, `'`", None), "invalid string, expected `\"`, `'`");
    assert_eq!(explain("unknown thing", None), "unknown thing");
}

#[test]
fn names_from_the_file_cannot_control_the_terminal() {
    assert_eq!(
        explain("unknown field `\u{1b}[2J`, expected `id`", None),
        "unknown key `\\u{1b}[2J`; expected `id`"
    );
}
