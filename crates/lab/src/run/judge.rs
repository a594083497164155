//! Expectations, and the collector's observations of them so far.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::end::AFTER_LAST_STEP;
use super::outcome::Judgement;
use crate::api;
use crate::lab::Lab;
use crate::topology::{Command, Expect};

/// The state of all expectations.
pub(super) struct Judge<'a> {
    lab: &'a Lab,
    /// When each expectation was first met, and by what.
    met: Vec<Option<(Duration, String)>>,
    /// Events by id: when they were first seen, their kind and their key.
    events: BTreeMap<String, (Duration, String, String)>,
    /// Paths by source and destination, with the latest time at which they were seen.
    paths: BTreeMap<(String, String), Vec<String>>,
    /// Why the collector could not be queried the last time.
    trouble: Option<String>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(lab: &'a Lab) -> Self {
        let met = lab.topology.expectations.iter().map(|_| None).collect();
        Self { lab, met, events: BTreeMap::new(), paths: BTreeMap::new(), trouble: None }
    }

    /// The latest `by`, where expectations without it have a time after the last step; `None`: none has it.
    pub(super) fn last_by(&self, last_step: Duration) -> Option<Duration> {
        let usual = last_step + AFTER_LAST_STEP;
        self.expectations().any(|expect| expect.by.is_some()).then_some(())?;
        self.expectations().map(|expect| expect.by().unwrap_or(usual)).max()
    }

    /// Whether the judgement is final.
    pub(super) fn is_settled(&self) -> bool {
        let is_met = |(at, expect): (usize, &Expect)| {
            expect.run.is_some() || (self.met[at].is_some() && !expect.absent && expect.only.is_none())
        };
        self.expectations().enumerate().all(is_met)
    }

    /// Queries the collector for news.
    pub(super) fn look(&mut self, now: Duration) {
        let asked = api::get(self.lab.plan.api, "/api/v1/events?limit=1000").and_then(|events| {
            self.look_at_events(now, &events);
            api::get(self.lab.plan.api, "/api/v1/flows?limit=1000")
        });
        match asked {
            Ok(flows) => {
                self.trouble = None;
                self.look_at_flows(now, &flows);
            }
            Err(error) => self.trouble = Some(error.to_string()),
        }
    }

    fn look_at_events(&mut self, now: Duration, events: &Value) {
        for event in events.as_array().into_iter().flatten() {
            let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
            let (id, kind) = (text("id"), text("event"));
            let title = if event["title"].is_string() { text("title") } else { text("key") };
            self.events.entry(id).or_insert((now, kind, title));
        }
        for (at, expect) in self.lab.topology.expectations.iter().enumerate() {
            let Some(kind) = expect.event.as_ref().filter(|_| self.met[at].is_none()) else { continue };
            let fits = |(seen, this, title): &&(Duration, String, String)| {
                this == kind.get_ref()
                    && expect.key.as_ref().is_none_or(|key| title.contains(key))
                    && expect.allows(*seen)
            };
            let found = self.events.values().filter(fits).min_by_key(|(seen, ..)| *seen);
            self.met[at] = found.map(|(seen, _, title)| (*seen, title.clone()));
        }
    }

    fn look_at_flows(&mut self, now: Duration, flows: &Value) {
        let names = self.names();
        for flow in flows.as_array().into_iter().flatten() {
            let end = |key: &str| flow["flow"][key].as_str().unwrap_or_default().to_owned();
            let ends = (end("source"), end("destination"));
            let Some(path) = flow["path"].as_array() else { continue };
            let name = |hop: &Value| {
                let id = hop["node_id"].as_u64().and_then(|id| u32::try_from(id).ok()).unwrap_or_default();
                names.get(&id).cloned().unwrap_or_else(|| id.to_string())
            };
            let path: Vec<String> = path.iter().map(name).collect();
            let text = path.join(" ");
            let seen = self.paths.entry(ends.clone()).or_default();
            if !seen.contains(&text) {
                seen.push(text.clone());
            }
            for (at, expect) in self.lab.topology.expectations.iter().enumerate() {
                let Some(wanted) = &expect.path else { continue };
                let is_flow = (wanted.source.to_string(), wanted.destination.to_string()) == ends;
                if self.met[at].is_none() && is_flow && expect.allows(now) && *wanted.nodes.get_ref() == path
                {
                    self.met[at] = Some((now, text.clone()));
                }
            }
        }
    }

    /// The judgement on each expectation; `ask` runs a command.
    pub(super) fn finish(&self, lab: &Lab, ask: impl Fn(&Command) -> (bool, String)) -> Vec<Judgement> {
        let judge = |(at, expect): (usize, &Expect)| {
            let (expected, met) = (describe(expect), self.met[at].as_ref());
            if let Some(command) = &expect.run {
                let (passed, seen) = ask(command);
                return Judgement { expected, passed, at: None, seen };
            }
            if let Some(only) = &expect.only {
                let others = self.events.values().filter(|(_, kind, _)| !only.get_ref().contains(kind));
                let others: Vec<String> =
                    others.map(|(_, kind, title)| format!("{kind} ({title})")).collect();
                let passed = others.is_empty() && self.trouble.is_none();
                let seen = if others.is_empty() { self.instead(expect) } else { others.join(", ") };
                return Judgement { expected, passed, at: None, seen };
            }
            let in_time = met.filter(|(seen, _)| expect.by().is_none_or(|by| *seen <= by));
            let passed = in_time.is_some() != expect.absent && !(expect.absent && self.trouble.is_some());
            let seen = match met {
                Some((seen, what)) if !passed && !expect.absent => {
                    format!("{what}, at {:.1} s", seen.as_secs_f64())
                }
                Some((_, what)) => what.clone(),
                None => self.instead(expect),
            };
            Judgement { expected, passed, at: met.map(|(seen, _)| seen.as_secs_f64()), seen }
        };
        lab.topology.expectations.iter().enumerate().map(judge).collect()
    }

    /// The observations that differ from the expectation.
    fn instead(&self, expect: &Expect) -> String {
        if let Some(trouble) = &self.trouble {
            return format!("the collector cannot be asked: {trouble}");
        }
        let Some(path) = &expect.path else { return self.all_kinds() };
        let ends = (path.source.to_string(), path.destination.to_string());
        match self.paths.get(&ends) {
            Some(paths) => format!("paths: {}", paths.join("; ")),
            None => format!("no path of {} flows was from {} to {}", self.paths.len(), ends.0, ends.1),
        }
    }

    fn all_kinds(&self) -> String {
        let kinds: Vec<String> = self.kinds().iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        if kinds.is_empty() { "no events".into() } else { format!("events: {}", kinds.join(", ")) }
    }

    /// The numbers of events by kind.
    pub(super) fn kinds(&self) -> BTreeMap<String, usize> {
        let mut kinds = BTreeMap::new();
        for (_, kind, _) in self.events.values() {
            *kinds.entry(kind.clone()).or_default() += 1;
        }
        kinds
    }

    fn names(&self) -> BTreeMap<u32, String> {
        let named = self.lab.plan.nodes.iter().filter_map(|node| Some((node.id?, node.name.clone())));
        named.collect()
    }

    fn expectations(&self) -> impl Iterator<Item = &Expect> {
        self.lab.topology.expectations.iter()
    }
}

/// An expectation in words.
fn describe(expect: &Expect) -> String {
    let mut text = String::new();
    if expect.absent {
        text.push_str("no ");
    }
    if let Some(event) = &expect.event {
        text.push_str(&format!("event {}", event.get_ref()));
    }
    if let Some(key) = &expect.key {
        text.push_str(&format!(" about {key}"));
    }
    if let Some(only) = &expect.only {
        text.push_str(&format!("no event but {}", only.get_ref().join(", ")));
    }
    if let Some(path) = &expect.path {
        text.push_str(&format!(
            "path {} from {} to {}",
            path.nodes.get_ref().join(" "),
            path.source,
            path.destination
        ));
    }
    if let Some(command) = &expect.run {
        text.push_str(&format!("on {}: {}", command.on.get_ref(), command.command));
    }
    if let Some(after) = &expect.after {
        text.push_str(&format!(" after {}", after.get_ref()));
    }
    if let Some(by) = &expect.by {
        text.push_str(&format!(" by {}", by.get_ref()));
    }
    text
}

#[cfg(test)]
mod tests;
