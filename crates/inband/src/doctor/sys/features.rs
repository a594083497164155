//! The features of a device, and which are on.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsRawFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// The features of the device `name` in this thread's network namespace, as `ethtool -k` names them.
///
/// # Errors
/// The kernel's error, or a name that is too long.
pub(crate) fn features(name: &str) -> io::Result<BTreeMap<String, bool>> {
    let count = count(name)?;
    let names = names(name, count)?;
    let active = active(name, count)?;
    let is_on = |number: usize| active.get(number / 32).is_some_and(|block| block >> (number % 32) & 1 == 1);
    Ok(names.into_iter().enumerate().map(|(number, name)| (name, is_on(number))).collect())
}

/// `ETHTOOL_GSSET_INFO`: the number of features.
fn count(name: &str) -> io::Result<usize> {
    // Command, reserved, the requested set as a bit of 64, and room for the answer.
    let mut words = [0x37, 0, 1 << FEATURES, 0, 0];
    if cfg!(target_endian = "big") {
        words.swap(2, 3);
    }
    ask(name, &mut words)?;
    let count = usize::try_from(words[4]).unwrap_or(usize::MAX);
    if count > MAX_FEATURES { Err(io::ErrorKind::InvalidData.into()) } else { Ok(count) }
}

/// `ETHTOOL_GSTRINGS`: the names of the features, 32 bytes each.
fn names(name: &str, count: usize) -> io::Result<Vec<String>> {
    let mut words = vec![0; 3 + count * NAME_WORDS];
    words[..3].copy_from_slice(&[0x1b, FEATURES, u32::try_from(count).unwrap_or_default()]);
    ask(name, &mut words)?;
    let text = |words: &[u32]| {
        let bytes: Vec<_> =
            words.iter().flat_map(|word| word.to_ne_bytes()).take_while(|byte| *byte != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(words[3..].chunks(NAME_WORDS).map(text).collect())
}

/// `ETHTOOL_GFEATURES`: which are on, 32 to a block of four words; the third holds the active ones.
fn active(name: &str, count: usize) -> io::Result<Vec<u32>> {
    let blocks = count.div_ceil(32);
    let mut words = vec![0; 2 + blocks * 4];
    words[..2].copy_from_slice(&[0x3a, u32::try_from(blocks).unwrap_or_default()]);
    ask(name, &mut words)?;
    Ok(words[2..].chunks(4).map(|block| block[2]).collect())
}

/// `struct ifreq`, as the ethtool request uses it.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    words: *mut u32,
    rest: [u8; 16],
}

/// Sends the driver of the device a command whose structure is in `words`.
fn ask(name: &str, words: &mut [u32]) -> io::Result<()> {
    let mut request = Request { name: [0; libc::IFNAMSIZ], words: words.as_mut_ptr(), rest: [0; 16] };
    let room = request.name.get_mut(..name.len()).filter(|_| name.len() < libc::IFNAMSIZ);
    room.ok_or(io::ErrorKind::InvalidInput)?.copy_from_slice(name.as_bytes());
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // SAFETY: `request` has the layout and at least the size of `struct ifreq`, its name ends in a zero, and
    // its pointer is to `words`, which each caller above sizes for its command's answer.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &raw mut request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// `ETH_SS_FEATURES`.
const FEATURES: u32 = 4;
/// Kernels have some 60.
const MAX_FEATURES: usize = 1024;
const NAME_WORDS: usize = 32 / 4;
