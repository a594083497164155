//! The keys of a terminal while a picture is shown on it.

use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

/// A terminal whose keys arrive at once, and are not shown; dropping it restores its modes.
pub(super) struct Keys<F: AsFd> {
    terminal: F,
    before: Termios,
}

impl Keys<io::Stdin> {
    /// The keys of stdin; `None`: it is not a terminal, or another program's.
    pub(super) fn of_stdin() -> Option<Self> {
        Some(io::stdin()).filter(IsTerminal::is_terminal).and_then(Self::of)
    }
}

impl<F: AsFd> Keys<F> {
    fn of(terminal: F) -> Option<Self> {
        if !is_ours(terminal.as_fd()) {
            return None;
        }
        let before = tcgetattr(&terminal).ok()?;
        let mut modes = before.clone();
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(&terminal, OptionalActions::Now, &modes).ok()?;
        Some(Self { terminal, before })
    }

    /// Whether `q` was pressed since the last call.
    pub(super) fn is_end_asked(&self) -> bool {
        let mut buffer = [0; 64];
        // A read in the background would stop the program.
        while is_ours(self.terminal.as_fd()) && is_ready(self.terminal.as_fd()) {
            match rustix::io::read(&self.terminal, &mut buffer) {
                Ok(length @ 1..) if buffer.iter().take(length).any(|key| matches!(key, b'q' | b'Q')) => {
                    return true;
                }
                Ok(1..) => {}
                _ => return false,
            }
        }
        false
    }
}

impl<F: AsFd> Drop for Keys<F> {
    fn drop(&mut self) {
        if is_ours(self.terminal.as_fd()) {
            // The terminal may be gone.
            let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
        }
    }
}

/// Whether this program is in the foreground of a terminal; one that controls no programs is everyone's.
fn is_ours(terminal: BorrowedFd<'_>) -> bool {
    tcgetpgrp(terminal).map_or(true, |group| group == getpgrp())
}

fn is_ready(terminal: BorrowedFd<'_>) -> bool {
    let mut polled = [PollFd::from_borrowed_fd(terminal, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec::default())).is_ok_and(|count| count > 0)
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{LocalModes, tcgetattr};

    use super::Keys;

    /// A terminal that controls no program, and its other end.
    fn terminal() -> (File, File) {
        let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&user).unwrap();
        unlockpt(&user).unwrap();
        let path = ptsname(&user, Vec::new()).unwrap().into_string().unwrap();
        let flags = i32::try_from(OpenptFlags::NOCTTY.bits()).unwrap();
        let terminal = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).unwrap();
        (user.into(), terminal)
    }

    #[test]
    fn q_asks_for_the_end_and_other_keys_do_not() {
        let (mut user, terminal) = terminal();
        let keys = Keys::of(terminal).unwrap();
        assert!(!keys.is_end_asked(), "no key");

        for (pressed, is_end) in [("x", false), ("\n", false), ("abq", true), ("Q", true)] {
            user.write_all(pressed.as_bytes()).unwrap();
            let is_asked = (0..50).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(2));
                keys.is_end_asked()
            });
            assert_eq!(is_asked, is_end, "{pressed:?}");
        }
    }

    #[test]
    fn the_modes_of_the_terminal_are_restored() {
        let (_user, terminal) = terminal();
        let modes = || tcgetattr(&terminal).unwrap().local_modes;
        let before = modes();
        assert!(before.contains(LocalModes::ICANON | LocalModes::ECHO));

        let keys = Keys::of(terminal.try_clone().unwrap()).unwrap();

        assert!(!modes().intersects(LocalModes::ICANON | LocalModes::ECHO));
        assert!(modes().contains(LocalModes::ISIG), "Ctrl-C still works");
        drop(keys);
        assert_eq!(modes(), before);
    }
}
