//! pcapng files: sections of blocks, each section with its own byte order and interfaces.

mod blocks;
mod reader;

pub(crate) use blocks::{SECTION_HEADER, put_interface, put_packet, put_section_header};
pub(crate) use reader::PcapngReader;
