//! The conclusions of the collector about a run, compared with the truth.

use std::fmt;
use std::net::SocketAddr;

use inband_collector::{Collector, CollectorSettings, Output, PathSettings};
use inband_model::{Event, EventDetail, EventKind, Flow, Nanos, Observation, Path, Phase};

use super::fabric::{BEGIN, Course, Setup, Way, run, topology};
use super::support::{sender, session};

/// The conclusions of the collector about a run.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) changes: usize,
    /// Changes that were announced once, never and more than once.
    pub(crate) once: usize,
    pub(crate) never: usize,
    pub(crate) again: usize,
    /// Announcements of changes that did not happen.
    pub(crate) false_changes: usize,
    /// Paths checked while they were steady, and those of them that were right.
    pub(crate) looked_at: usize,
    pub(crate) right: usize,
    /// Flows whose path is right at the end.
    pub(crate) flows: usize,
    pub(crate) right_at_end: usize,
    /// Paths reported, and those of them that no packet took.
    pub(crate) told: usize,
    pub(crate) told_wrong: usize,
    pub(crate) false_losses: usize,
    /// Events of other kinds, which have no cause in the run.
    pub(crate) others: usize,
    /// How long after the first packet each change was announced, nanoseconds, in ascending order.
    pub(crate) lateness: Vec<u64>,
}

impl Findings {
    /// Nanoseconds within which this share of the changes was announced.
    pub(crate) fn within(&self, permille: usize) -> u64 {
        let last = self.lateness.len().saturating_sub(1);
        self.lateness.get(last * permille / 1_000).copied().unwrap_or(0)
    }

    /// Whether 99.9 % of the paths are right, and every change was announced once and nothing else was.
    pub(crate) fn is_right(&self) -> bool {
        self.is_right_but_for(self.looked_at / 1_000, 0)
    }

    /// The same for few flows, of which a few more may be wrong by chance: four standard deviations of one in
    /// a thousand. Where reports are lost, five in a row of a last node are lost in one run of a thousand,
    /// which looks like a flow that ends before it: a later change is announced as one from there.
    pub(crate) fn is_right_but_for_chance(&self, setup: &Setup) -> bool {
        let expected = self.looked_at / 1_000;
        self.is_right_but_for(expected + 4 * expected.isqrt(), usize::from(setup.lost_percent > 0))
    }

    fn is_right_but_for(&self, wrong: usize, wrong_beginnings: usize) -> bool {
        self.looked_at - self.right <= wrong
            && self.looked_at > 0
            && self.right_at_end == self.flows
            && self.once + self.false_changes == self.changes
            && self.false_changes <= wrong_beginnings
            && (self.false_losses, self.others) == (0, 0)
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        write!(
            f,
            "right {:.3} % of {} looks, {:.2} % at the end, told wrong {}/{}; changes {}: once {}, never {}, again {}, \
             false {}; ms p50 {} p99 {} max {}; false losses {}, others {}",
            percent(self.right, self.looked_at),
            self.looked_at,
            percent(self.right_at_end, self.flows),
            self.told_wrong,
            self.told,
            self.changes,
            self.once,
            self.never,
            self.again,
            self.false_changes,
            self.within(500) / 1_000_000,
            self.within(990) / 1_000_000,
            self.within(1_000) / 1_000_000,
            self.false_losses,
            self.others,
        )
    }
}

/// Runs a setup through a collector.
pub(crate) fn judge(setup: &Setup) -> Findings {
    let links =
        if setup.ttl_falls || setup.mode == super::fabric::Mode::Md { Vec::new() } else { topology(setup) };
    let paths = PathSettings { settle_ms: setup.settle_ms, links, ..PathSettings::default() };
    let mut collector = Collector::new(CollectorSettings { paths, ..CollectorSettings::default() });
    let (courses, sent) = run(setup);
    let mut findings = Findings { flows: courses.len(), ..Findings::default() };
    let mut announced: Vec<(u64, Event)> = Vec::new();
    // A path is steady when three reports of each node have been sent and have had time to arrive.
    let steady = 3 * setup.every + setup.settle_ms * 1_000_000 + 3_200_000_000;
    let mut next_look = BEGIN;
    let mut sent = sent.into_iter().peekable();
    let mut drain = |collector: &mut Collector, now: u64, findings: &mut Findings| {
        while let Some(output) = collector.poll_output() {
            match output {
                Output::Event(event) => match event.kind() {
                    EventKind::PathChange if event.phase != Phase::End => announced.push((now, event)),
                    EventKind::ReportLoss if setup.lost_percent == 0 => findings.false_losses += 1,
                    EventKind::PathChange | EventKind::ReportLoss | EventKind::NewFlow => {}
                    EventKind::LatencyChange | EventKind::LatencySpike | EventKind::EcmpImbalance => {}
                    _ => findings.others += 1,
                },
                Output::Observation(Observation::Path(told)) => {
                    findings.told += 1;
                    let course = course_of(&courses, &told.flow);
                    findings.told_wrong +=
                        usize::from(!course.ways.iter().any(|(_, way)| is_same(&told.path, way)));
                }
                Output::Observation(_) => {}
            }
        }
    };
    while let Some(arrives) = sent.peek().map(|sent| sent.arrives) {
        while let Some(due) = collector.poll_timeout().filter(|due| due.0 <= arrives.min(next_look)) {
            collector.handle_timeout(due);
            drain(&mut collector, due.0, &mut findings);
        }
        if next_look < arrives {
            look(&collector, &courses, next_look, steady, &mut findings);
            next_look += 500_000_000;
            continue;
        }
        let sent = sent.next().expect("it was there");
        collector.handle_datagram(Nanos(arrives), from(&sent.bytes), session(), &sent.bytes);
        drain(&mut collector, arrives, &mut findings);
    }
    for course in &courses {
        let path = collector.flow(&course.flow).and_then(|view| view.path.cloned());
        let way = &course.ways.last().expect("a flow has a way").1;
        findings.right_at_end += usize::from(path.is_some_and(|path| is_same(&path, way)));
    }
    assign(&courses, &announced, &mut findings);
    findings.lateness.sort_unstable();
    findings
}

fn from(bytes: &[u8]) -> SocketAddr {
    let mut address = sender();
    address.set_port(u16::from_be_bytes([bytes[6], bytes[7]]));
    address
}

fn course_of<'a>(courses: &'a [Course], flow: &Flow) -> &'a Course {
    courses.iter().find(|course| course.flow == *flow).expect("only these flows are reported")
}

/// Checks the paths that have been steady for a while.
fn look(collector: &Collector, courses: &[Course], now: u64, steady: u64, findings: &mut Findings) {
    for course in courses {
        let Some((since, way)) = course.ways.iter().rev().find(|(since, _)| *since <= now) else { continue };
        if now - since < steady {
            continue;
        }
        let path = collector.flow(&course.flow).and_then(|view| view.path.cloned());
        findings.looked_at += 1;
        findings.right += usize::from(path.is_some_and(|path| is_same(&path, way)));
    }
}

/// Separates announcements of changes that took place from others.
fn assign(courses: &[Course], announced: &[(u64, Event)], findings: &mut Findings) {
    let mut used = vec![false; announced.len()];
    for course in courses {
        for pair in course.ways.windows(2) {
            let ((_, old), (at, new)) = (&pair[0], &pair[1]);
            if old == new {
                continue;
            }
            findings.changes += 1;
            let mut found = 0;
            for (place, (told_at, event)) in announced.iter().enumerate() {
                let EventDetail::PathChange(change) = &event.detail else { continue };
                let is_it = change.flow == course.flow
                    && is_same(&change.new, new)
                    && is_same(&change.old, old)
                    && told_at >= at
                    && told_at - at < 20_000_000_000;
                if is_it && !used[place] {
                    used[place] = true;
                    found += 1;
                    if found == 1 {
                        findings.lateness.push(told_at - at);
                    }
                }
            }
            match found {
                0 => findings.never += 1,
                1 => findings.once += 1,
                _ => findings.again += 1,
            }
        }
    }
    findings.false_changes = used.iter().filter(|used| !**used).count();
}

fn is_same(path: &Path, way: &Way) -> bool {
    path.hops().len() == way.len()
        && path.hops().iter().zip(way).all(|(hop, (node, ingress, egress))| {
            (hop.node_id.0, hop.ingress_interface, hop.egress_interface)
                == (*node, Some(*ingress), Some(*egress))
        })
}
