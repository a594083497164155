//! Checks of the names and times in steps and expectations.

use inband_model::EventKind;

use super::parts::{Kind, Plan};
use crate::topology::{Action, Fault, Mistake, Topology, unknown};

/// Checks the names and times in steps and expectations.
pub(super) fn judge(plan: &Plan, topology: &Topology) -> Result<(), Mistake> {
    judge_times(topology)?;
    for step in &topology.steps {
        let (action, span) = step.action().map_err(|(message, span)| Mistake { span, message })?;
        plan.check(&action).map_err(|message| Mistake { span, message })?;
    }
    for expectation in &topology.expectations {
        let given = [
            expectation.event.is_some(),
            expectation.path.is_some(),
            expectation.only.is_some(),
            expectation.run.is_some(),
        ];
        if given.iter().filter(|given| **given).count() != 1 {
            let span = expectation.event.as_ref().map(toml::Spanned::span);
            let message = "an expectation has one of `event`, `path`, `only` and `run`".into();
            return Err(Mistake { span, message });
        }
        let kinds = || EventKind::ALL.iter().map(|kind| kind.name());
        let named = expectation.event.iter().map(|event| (event.get_ref(), event.span()));
        let only =
            expectation.only.iter().flat_map(|only| only.get_ref().iter().map(|kind| (kind, only.span())));
        if let Some((kind, span)) =
            named.chain(only).find(|(kind, _)| !kinds().any(|known| known == kind.as_str()))
        {
            return Err(Mistake::at(span, unknown("event", kind, kinds())));
        }
        if let Some(path) = &expectation.path {
            for name in path.nodes.get_ref() {
                if !plan.nodes.iter().any(|node| node.name == *name && node.id.is_some()) {
                    let known = plan.nodes.iter().filter(|node| node.id.is_some());
                    let message = unknown("node with INT", name, known.map(|node| node.name.as_str()));
                    return Err(Mistake::at(path.nodes.span(), message));
                }
            }
        }
        if let Some(command) = &expectation.run
            && plan.node(command.on.get_ref()).is_none()
        {
            let known = plan.nodes.iter().map(|node| node.name.as_str());
            return Err(Mistake::at(
                command.on.span(),
                unknown("host or switch", command.on.get_ref(), known),
            ));
        }
    }
    Ok(())
}

/// Checks that nothing happens, or is expected, after the end of the run.
fn judge_times(topology: &Topology) -> Result<(), Mistake> {
    let steps = topology.steps.iter().map(|step| ("at", &step.at));
    let expectations = topology.expectations.iter();
    let times = expectations.clone().flat_map(|expect| {
        let (after, by) = (expect.after.as_ref(), expect.by.as_ref());
        after.map(|after| ("after", after)).into_iter().chain(by.map(|by| ("by", by)))
    });
    if let Some(duration) = topology.duration
        && let Some((key, time)) = steps.chain(times).find(|(_, time)| *time.get_ref() > duration)
    {
        let message = format!("`{key}` is {}, and the run ends after {duration}", time.get_ref());
        return Err(Mistake::at(time.span(), message));
    }
    for (after, by) in expectations.filter_map(|expect| expect.after.as_ref().zip(expect.by.as_ref())) {
        if after.get_ref() > by.get_ref() {
            let message = format!("`after` is {}, and `by` is {}: earlier", after.get_ref(), by.get_ref());
            return Err(Mistake::at(after.span(), message));
        }
    }
    Ok(())
}

impl Plan {
    /// Checks that everything an action names exists.
    ///
    /// # Errors
    /// The name that is unknown.
    pub fn check(&self, action: &Action) -> Result<(), String> {
        let all = || self.nodes.iter().map(|node| node.name.as_str());
        let switches =
            || self.nodes.iter().filter(|node| node.kind != Kind::Host).map(|node| node.name.as_str());
        let link = |a: &str, b: &str| {
            let [a, b] =
                [a, b].map(|name| self.node(name).ok_or_else(|| unknown("host or switch", name, all())));
            let (a, b) = (a?, b?);
            match self.links_between(a, b).next() {
                Some(_) => Ok(()),
                None => {
                    Err(format!("no link connects `{}` and `{}`", self.nodes[a].name, self.nodes[b].name))
                }
            }
        };
        let switch = |name: &str| {
            let known = switches().any(|switch| switch == name);
            if known { Ok(()) } else { Err(unknown("switch", name, switches())) }
        };
        match action {
            Action::Run(command) => {
                let name = command.on.get_ref();
                self.node(name).map(|_| ()).ok_or_else(|| unknown("host or switch", name, all()))
            }
            Action::Mend(names) => match &names[..] {
                [a, b] => link(a, b),
                [name] => switch(name),
                _ => Err("`mend` takes both ends of a link, or a switch".into()),
            },
            Action::Fault(Fault::Break { a, b } | Fault::Slow { a, b, .. }) => link(a, b),
            Action::Fault(Fault::Loop { a, b }) => {
                switch(a).and_then(|()| switch(b)).and_then(|()| link(a, b))
            }
            Action::Fault(Fault::Drop { switch: name, .. }) => switch(name),
            Action::Fault(Fault::Misroute { switch: name, next, .. }) => {
                switch(name).and_then(|()| switch(next)).and_then(|()| link(name, next))
            }
        }
    }
}
