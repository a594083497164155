//! A flow as users write it.

use std::net::SocketAddr;

use inband_model::Flow;

/// Reads `tcp 10.0.1.1:40000 > 10.0.2.1:80`.
pub(super) fn parse(text: &str) -> Result<Flow, String> {
    let wrong = || format!("`{text}` is not a flow such as `tcp 10.0.1.1:40000 > 10.0.2.1:80`");
    let (protocol, rest) = text.trim().split_once(' ').ok_or_else(wrong)?;
    let (source, destination) = rest.split_once('>').ok_or_else(wrong)?;
    let protocol = match protocol {
        "tcp" => 6,
        "udp" => 17,
        _ => return Err(wrong()),
    };
    let address = |text: &str| text.trim().parse::<SocketAddr>().map_err(|_| wrong());
    let (source, destination) = (address(source)?, address(destination)?);
    if source.is_ipv4() != destination.is_ipv4() {
        return Err(wrong());
    }
    Ok(Flow {
        source: source.ip(),
        destination: destination.ip(),
        protocol,
        source_port: source.port(),
        destination_port: destination.port(),
    })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_flow_is_read_as_it_is_written() {
        for text in ["tcp 10.0.1.1:40000 > 10.0.2.1:80", "udp [fd00::1]:1 > [fd00::2]:2"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        for wrong in [
            "",
            "tcp",
            "icmp 10.0.0.1:1 > 10.0.0.2:2",
            "tcp 10.0.0.1 > 10.0.0.2",
            "udp 10.0.0.1:1 > [fd00::1]:2",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
