//! Flows whose path violates a rule.

mod prefix;
mod rule;
mod settings;

use hashbrown::HashMap;
use inband_model::{
    Confidence, Event, EventDetail, EventKind, Flow, Nanos, PathPolicy, ReportReference, Severity, Violation,
};

use crate::book::Course;
use crate::flows::{FlowEntry, FlowIndex};
use crate::network::Network;
use crate::outbox::Outbox;

pub use self::prefix::{Prefix, PrefixError};
pub use self::rule::{RuleView, Verdict};
pub use self::settings::PathRule;

use self::rule::KnownPath;
use super::detector::{Common, Detector, SeenPath};

pub(crate) type Settings = Vec<PathRule>;

/// The rules, at most [`MAX_RULES`], and the flows that violate them.
#[derive(Debug)]
pub(crate) struct State {
    rules: Vec<PathRule>,
    /// The rules that the path of a flow violates, one bit each.
    violations: HashMap<FlowIndex, u64>,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, _: &Common) -> Self {
        Self { rules: settings.iter().take(MAX_RULES).cloned().collect(), violations: HashMap::new() }
    }

    /// Judges the path of a flow, and that of the reverse flow where a rule requires symmetry.
    fn handle_path(&mut self, path: &SeenPath<'_>, network: &Network, outbox: &mut Outbox) {
        if self.rules.is_empty() || !path.is_whole {
            return;
        }
        self.judge(path.flow, path.report, network, outbox);
        if self.rules.iter().any(|rule| rule.symmetric)
            && let Some(back) = network.flows.find(&network.flows[path.flow].flow.reversed())
        {
            self.judge(back, path.report, network, outbox);
        }
    }

    /// Ends the events of an evicted flow.
    fn handle_eviction(&mut self, index: FlowIndex, entry: &FlowEntry, now: Nanos, outbox: &mut Outbox) {
        let Some(violations) = self.violations.remove(&index) else { return };
        for (place, rule) in self.rules.iter().enumerate() {
            if violations & 1 << place != 0 {
                outbox.calm(EventKind::PathPolicy, &key(rule, &entry.flow), now);
            }
        }
    }
}

impl State {
    fn judge(&mut self, index: FlowIndex, report: ReportReference, network: &Network, outbox: &mut Outbox) {
        let entry = &network.flows[index];
        let mut violations = self.violations.get(&index).copied().unwrap_or(0);
        for (place, rule) in self.rules.iter().enumerate() {
            if !rule.covers(&entry.flow) {
                continue;
            }
            let bit = 1_u64 << place;
            match verdict(rule, entry, network) {
                Verdict::Violates(violation) => {
                    outbox.begin(event(rule, entry, violation, report, network), Course::UNTIL_ENDED);
                    violations |= bit;
                }
                Verdict::Complies if violations & bit != 0 => {
                    outbox.calm(EventKind::PathPolicy, &key(rule, &entry.flow), report.received_at);
                    violations &= !bit;
                }
                Verdict::Complies | Verdict::Unverifiable => {}
            }
        }
        if violations == 0 {
            self.violations.remove(&index);
        } else {
            self.violations.insert(index, violations);
        }
    }

    /// The verdicts of each rule on the flows it covers.
    pub(crate) fn views(&self, network: &Network) -> Vec<RuleView> {
        let mut views: Vec<RuleView> = Vec::with_capacity(self.rules.len());
        for rule in &self.rules {
            let rule_name = rule.name.clone();
            let mut view = RuleView { rule: rule_name, complying: 0, violating: 0, unverifiable: 0 };
            for entry in network.flows.iter().filter(|entry| rule.covers(&entry.flow)) {
                match verdict(rule, entry, network) {
                    Verdict::Complies => view.complying += 1,
                    Verdict::Violates(_) => view.violating += 1,
                    Verdict::Unverifiable => view.unverifiable += 1,
                }
            }
            views.push(view);
        }
        views
    }

    /// The verdict of each rule that covers a flow.
    pub(crate) fn verdicts(&self, flow: &Flow, network: &Network) -> Vec<(&str, Verdict)> {
        let Some(index) = network.flows.find(flow) else { return Vec::new() };
        let entry = &network.flows[index];
        let covering = self.rules.iter().filter(|rule| rule.covers(flow));
        covering.map(|rule| (rule.name.as_str(), verdict(rule, entry, network))).collect()
    }
}

fn verdict(rule: &PathRule, entry: &FlowEntry, network: &Network) -> Verdict {
    let back = rule.symmetric.then(|| network.flows.find(&entry.flow.reversed())).flatten();
    let back = back.and_then(|back| known_path(&network.flows[back], network));
    rule.judge(known_path(entry, network), back)
}

fn known_path<'a>(entry: &FlowEntry, network: &'a Network) -> Option<KnownPath<'a>> {
    entry.path?;
    Some(KnownPath { hops: network.hops(entry), is_complete: network.is_complete(entry) })
}

fn event(
    rule: &PathRule,
    entry: &FlowEntry,
    violation: Violation,
    report: ReportReference,
    network: &Network,
) -> Event {
    let path = entry.path.map(|path| network.paths[path].path.clone()).unwrap_or_default();
    let detail = PathPolicy { rule: rule.name.clone(), flow: entry.flow, path, violation };
    let detail = EventDetail::PathPolicy(detail);
    Event::of_report(detail, Severity::Warning, key(rule, &entry.flow), Confidence::Certain, report)
}

fn key(rule: &PathRule, flow: &Flow) -> String {
    format!("{}: {flow}", rule.name)
}

/// Maximum number of rules.
const MAX_RULES: usize = 64;

#[cfg(test)]
mod tests;
