//! Counts of what could not be read.

use inband_model::FaultCount;
use inband_wire::{ErrorKind, Header, ParseError};

/// Counts parse errors by header and kind.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    counts: Vec<(Header, FaultKind, u64)>,
}

/// How often one kind of fault was found in one kind of header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The header, as the specification names it.
    pub header: &'static str,
    /// The kind of fault.
    pub fault: &'static str,
    /// Number of occurrences.
    pub count: u64,
}

/// The kinds of fault, without the numbers in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FaultKind {
    Short,
    Version,
    OutOfRange,
    Contradiction,
    Undefined,
    Other,
}

impl Faults {
    /// Counts an error. There are few headers and kinds, so the list stays short.
    pub(crate) fn count(&mut self, error: &ParseError) {
        let kind = FaultKind::of(&error.kind);
        let known =
            self.counts.iter_mut().find(|(header, known, _)| (*header, *known) == (error.header, kind));
        match known {
            Some((_, _, count)) => *count += 1,
            None => self.counts.push((error.header, kind, 1)),
        }
    }

    /// The faults found so far, in the words users are shown.
    pub(crate) fn counts(&self) -> Vec<FaultCount> {
        let told = |Fault { header, fault, count }: Fault| FaultCount {
            header: header.to_owned(),
            fault: fault.to_owned(),
            count,
        };
        self.iter().map(told).collect()
    }

    /// The faults found so far.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Fault> {
        self.counts.iter().map(|(header, kind, count)| Fault {
            header: header.name(),
            fault: kind.name(),
            count: *count,
        })
    }
}

impl FaultKind {
    fn of(kind: &ErrorKind) -> FaultKind {
        match kind {
            ErrorKind::Short { .. } => FaultKind::Short,
            ErrorKind::Version { .. } => FaultKind::Version,
            ErrorKind::TooSmall { .. } | ErrorKind::TooLarge { .. } | ErrorKind::TooMany { .. } => {
                FaultKind::OutOfRange
            }
            ErrorKind::Mismatch { .. } | ErrorKind::PartialHop { .. } => FaultKind::Contradiction,
            ErrorKind::Undefined { .. } => FaultKind::Undefined,
            _ => FaultKind::Other,
        }
    }

    fn name(self) -> &'static str {
        match self {
            FaultKind::Short => "cut short",
            FaultKind::Version => "version not supported",
            FaultKind::OutOfRange => "value out of range",
            FaultKind::Contradiction => "fields contradict one another",
            FaultKind::Undefined => "value without a meaning",
            FaultKind::Other => "malformed",
        }
    }
}
