//! Checks of the names and times in steps and expectations.

use inband_model::EventKind;

use super::parts::{Kind, Plan};
use super::routes::Target;
use crate::quantity::Network;
use crate::topology::{Action, DropReason, Fault, Mistake, Topology, unknown};

/// Checks the names and times in steps and expectations.
pub(super) fn judge(plan: &Plan, topology: &Topology) -> Result<(), Mistake> {
    judge_times(topology)?;
    for step in &topology.steps {
        let (action, span) = step.action().map_err(|(message, span)| Mistake { span, message })?;
        plan.check(&action).map_err(|message| Mistake { span, message })?;
    }
    for expectation in &topology.expectations {
        expectation.check()?;
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
            if path.nodes.get_ref().is_empty() {
                return Err(Mistake::at(path.nodes.span(), "the path has no `nodes`"));
            }
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
    /// Checks that everything an action names exists, and that a fault has an effect there.
    ///
    /// # Errors
    /// The name that is unknown; why the fault has no effect.
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
            Action::Fault(fault @ Fault::Loop { a, b }) => {
                switch(a).and_then(|()| switch(b)).and_then(|()| link(a, b))?;
                self.check_router(a).and_then(|()| self.check_router(b))?;
                if self.routes(std::slice::from_ref(fault)) == self.routes(&[]) {
                    return Err(format!("no host is at another switch or at `{b}`: no packet would loop"));
                }
                Ok(())
            }
            Action::Fault(Fault::Drop { switch: name, reason }) => {
                switch(name).and_then(|()| self.check_drop(name, *reason))
            }
            Action::Fault(Fault::Misroute { switch: name, prefix, next }) => {
                switch(name).and_then(|()| switch(next)).and_then(|()| link(name, next))?;
                self.check_router(name).and_then(|()| self.check_router(next))?;
                self.check_hosts(*prefix)
            }
        }
    }

    /// Checks that a switch can drop packets for this reason.
    fn check_drop(&self, name: &str, reason: DropReason) -> Result<(), String> {
        let Some(node) = self.node(name) else { return Ok(()) };
        match reason {
            DropReason::NoRoute => {
                self.check_router(name)?;
                let has_ways = |target: &Target| matches!(target, Target::Via(_));
                if self.routes(&[])[node].values().any(has_ways) {
                    return Ok(());
                }
                Err(format!("`{name}` has no route to hosts of other switches"))
            }
            DropReason::Silent if self.nodes[node].hears_of_drops() && !self.nodes[node].is_router() => {
                Err(format!("`{name}` is a bridge that hears of every drop of Linux"))
            }
            DropReason::Silent => {
                let mut peers = self.nodes[node].interfaces.iter().map(|it| self.nodes[it.peer].kind);
                if peers.any(|kind| kind != Kind::Host) {
                    return Ok(());
                }
                Err(format!("`{name}` has no link to another switch"))
            }
        }
    }

    /// Checks that a switch forwards by routes.
    fn check_router(&self, name: &str) -> Result<(), String> {
        let is_router = self.node(name).is_some_and(|node| self.nodes[node].is_router());
        if is_router { Ok(()) } else { Err(format!("`{name}` is a bridge: it has no routes")) }
    }

    /// Checks that a network contains hosts.
    fn check_hosts(&self, network: Network) -> Result<(), String> {
        let hosts = (0..self.nodes.len()).filter(|node| self.nodes[*node].kind == Kind::Host);
        let mut addresses = hosts.flat_map(|host| self.host_addresses(host));
        if addresses.any(|host| network.contains(host.address)) {
            return Ok(());
        }
        Err(format!("no host is in {network}"))
    }
}
