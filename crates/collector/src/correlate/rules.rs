//! Do flows take the ways they may take?

use inband_model::{
    Confidence, Event, EventDetail, EventKind, Flow, Nanos, PathPolicy, ReportReference, Severity, Violation,
};

use crate::book::Course;
use crate::flows::{FlowEntry, FlowIndex};
use crate::outbox::Outbox;
use crate::policy::{KnownPath, PathRule, RuleView, Verdict};

use super::Correlator;
use super::change::end_change;

impl Correlator {
    /// Judges the path of a flow, and that of its answers where a rule asks for symmetry.
    pub(super) fn judge(&mut self, flow: FlowIndex, report: ReportReference, outbox: &mut Outbox) {
        if self.rules.is_empty() {
            return;
        }
        self.judge_one(flow, report, outbox);
        if self.rules.iter().any(|rule| rule.symmetric)
            && let Some(back) = self.flows.find(&answers(&self.flows[flow].flow))
        {
            self.judge_one(back, report, outbox);
        }
    }

    fn judge_one(&mut self, index: FlowIndex, report: ReportReference, outbox: &mut Outbox) {
        let flow = self.flows[index].flow;
        for place in 0..self.rules.len() {
            let rule = &self.rules[place];
            if !rule.covers(&flow) {
                continue;
            }
            let (bit, verdict) = (1_u64 << place, self.verdict(rule, &self.flows[index]));
            let broke_it = self.flows[index].violations & bit != 0;
            match verdict {
                Verdict::Violates(violation) => {
                    let event = self.violation(rule, index, violation, report);
                    outbox.begin(event, Course::UNTIL_ENDED);
                    self.flows[index].violations |= bit;
                }
                Verdict::Complies if broke_it => {
                    let key = key(rule, &flow);
                    outbox.calm(EventKind::PathPolicy, &key, report.received_at);
                    self.flows[index].violations &= !bit;
                }
                Verdict::Complies | Verdict::Unverifiable => {}
            }
        }
    }

    /// Ends the events of flows that are forgotten.
    pub(super) fn end_orphans(&mut self, now: Nanos, outbox: &mut Outbox) {
        while let Some(event) = self.undecided.pop() {
            end_change(Event { last: now, ..event }, outbox);
        }
        while let Some((violations, flow)) = self.orphans.pop() {
            for (place, rule) in self.rules.iter().enumerate() {
                if violations & 1 << place != 0 {
                    outbox.calm(EventKind::PathPolicy, &key(rule, &flow), now);
                }
            }
        }
    }

    /// What each rule says of the flows it covers.
    pub(crate) fn rule_views(&self) -> Vec<RuleView> {
        let mut views: Vec<RuleView> = Vec::with_capacity(self.rules.len());
        for rule in &self.rules {
            let rule_name = rule.name.clone();
            let mut view = RuleView { rule: rule_name, complying: 0, violating: 0, unverifiable: 0 };
            for entry in self.flows.iter().filter(|entry| rule.covers(&entry.flow)) {
                match self.verdict(rule, entry) {
                    Verdict::Complies => view.complying += 1,
                    Verdict::Violates(_) => view.violating += 1,
                    Verdict::Unverifiable => view.unverifiable += 1,
                }
            }
            views.push(view);
        }
        views
    }

    /// What each rule that covers a flow says of its path.
    pub(crate) fn verdicts(&self, flow: &Flow) -> Vec<(&str, Verdict)> {
        let Some(index) = self.flows.find(flow) else { return Vec::new() };
        let covering = self.rules.iter().filter(|rule| rule.covers(flow));
        covering.map(|rule| (rule.name.as_str(), self.verdict(rule, &self.flows[index]))).collect()
    }

    fn verdict(&self, rule: &PathRule, entry: &FlowEntry) -> Verdict {
        let back = rule.symmetric.then(|| self.flows.find(&answers(&entry.flow))).flatten();
        rule.judge(self.known_path(entry), back.and_then(|back| self.known_path(&self.flows[back])))
    }

    fn known_path(&self, entry: &FlowEntry) -> Option<KnownPath<'_>> {
        let hops = self.paths[entry.path?].path.hops();
        Some(KnownPath { hops, is_complete: self.is_complete(entry) })
    }

    fn violation(
        &self,
        rule: &PathRule,
        index: FlowIndex,
        violation: Violation,
        report: ReportReference,
    ) -> Event {
        let entry = &self.flows[index];
        let path = entry.path.map(|path| self.paths[path].path.clone()).unwrap_or_default();
        let detail = PathPolicy { rule: rule.name.clone(), flow: entry.flow, path, violation };
        let detail = EventDetail::PathPolicy(detail);
        Event::of_report(detail, Severity::Warning, key(rule, &entry.flow), Confidence::Certain, report)
    }
}

fn key(rule: &PathRule, flow: &Flow) -> String {
    format!("{}: {flow}", rule.name)
}

/// The flow of the answers.
fn answers(flow: &Flow) -> Flow {
    Flow {
        source: flow.destination,
        destination: flow.source,
        protocol: flow.protocol,
        source_port: flow.destination_port,
        destination_port: flow.source_port,
    }
}
