//! `lab run`: plays steps, and judges expectations by the collector's output.

mod end;
mod judge;
mod outcome;

use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::LabError;
use crate::lab::Lab;
use crate::process;
use crate::state::{self, State};
use crate::topology::{Action, Command as Asked};
use end::End;
use judge::Judge;
pub use outcome::{Judgement, Outcome, StepOutcome};

/// A command of a step.
struct Running {
    step: usize,
    child: Child,
    may_fail: bool,
    log: std::path::PathBuf,
}

/// Plays a lab that is up; `stop` ends it early.
///
/// # Errors
/// The lab's files cannot be read.
pub fn play(lab: &Lab, stop: &AtomicBool, mut progress: impl FnMut(f64, &str)) -> Result<Outcome, LabError> {
    let began = Instant::now();
    let mut steps: Vec<(Duration, Action)> = Vec::new();
    for step in &lab.topology.steps {
        if let Ok((action, _)) = step.action() {
            steps.push((step.at.get_ref().0, action));
        }
    }
    steps.sort_by_key(|(at, _)| *at);
    let mut judge = Judge::new(lab);
    let last_step = steps.last().map_or(Duration::ZERO, |(at, _)| *at);
    let mut end =
        End::new(lab.topology.duration.map(|duration| duration.0), judge.last_by(last_step), last_step);
    let mut done: Vec<StepOutcome> = Vec::new();
    let mut running: Vec<Running> = Vec::new();
    let mut next_look = Duration::ZERO;
    loop {
        let now = began.elapsed();
        while done.len() < steps.len() && steps[done.len()].0 <= now {
            let (_, action) = &steps[done.len()];
            progress(now.as_secs_f64(), &action.to_string());
            let outcome = take(lab, action, done.len(), &mut running);
            done.push(StepOutcome {
                at: now.as_secs_f64(),
                step: action.to_string(),
                passed: outcome.is_ok(),
                exit_code: None,
                output: outcome.err().map(|error| chain(&error)).unwrap_or_default(),
            });
        }
        running.retain_mut(|command| !command.has_ended(&mut done));
        if now >= next_look {
            judge.look(now);
            next_look = began.elapsed() + LOOK_EVERY;
        }
        let is_idle = done.len() == steps.len() && running.is_empty();
        if end.is_reached(now, is_idle, judge.is_settled()) || stop.load(Ordering::Relaxed) {
            break;
        }
        std::thread::sleep(TICK);
    }
    judge.look(began.elapsed());
    wait_for_rest(&mut running, &mut done, stop);
    let played = done.len();
    done.extend(steps.iter().skip(played).map(|(at, action)| unplayed(*at, action)));
    let expectations = judge.finish(lab, |asked| ask(lab, asked));
    let passed = expectations.iter().all(|it| it.passed) && done.iter().all(|it| it.passed);
    Ok(Outcome {
        name: lab.plan.name.clone(),
        passed,
        seconds: began.elapsed().as_secs_f64(),
        steps: done,
        events: judge.kinds(),
        backlog_drops: State::open(&lab.plan.name).ok().and_then(|state| state.facts.backlog_drops()),
        expectations,
    })
}

/// Gives commands that still run a short time to end; those that do not have failed.
fn wait_for_rest(running: &mut Vec<Running>, done: &mut [StepOutcome], stop: &AtomicBool) {
    let until = Instant::now() + GRACE;
    while !running.is_empty() && Instant::now() < until && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(TICK);
        running.retain_mut(|command| !command.has_ended(done));
    }
    for command in running {
        let outcome = &mut done[command.step];
        outcome.passed = command.may_fail;
        outcome.output = format!("{}\nit was still running at the end", command.tail()).trim().to_owned();
    }
}

/// The outcome of a step that was due after the end.
fn unplayed(at: Duration, action: &Action) -> StepOutcome {
    StepOutcome {
        at: at.as_secs_f64(),
        step: action.to_string(),
        passed: false,
        exit_code: None,
        output: "the run ended before".into(),
    }
}

/// Plays a step.
fn take(lab: &Lab, action: &Action, step: usize, running: &mut Vec<Running>) -> Result<(), LabError> {
    match action {
        Action::Run(asked) => {
            let log = state::folder(&lab.plan.name).join(format!("log/step{step}.log"));
            let child = command(lab, asked, &log)?.spawn().map_err(LabError::kernel("cannot start `sh`"))?;
            running.push(Running { step, child, may_fail: asked.may_fail, log });
            Ok(())
        }
        change => lab.change(&mut State::open(&lab.plan.name)?, change),
    }
}

fn command(lab: &Lab, asked: &Asked, log: &std::path::Path) -> Result<Command, LabError> {
    let namespace = lab.plan.namespace(asked.on.get_ref());
    let mut command = process::command(&lab.plan.name, &namespace, "/bin/sh", log)
        .map_err(LabError::kernel(format!("cannot enter {namespace}")))?;
    let api = format!("http://127.0.0.1:{}", lab.plan.api.port());
    command.env("INBAND_COLLECTOR", api).args(["-c", &asked.command]);
    Ok(command)
}

/// Runs the command of an expectation to its end: whether it succeeded, and its output.
fn ask(lab: &Lab, asked: &Asked) -> (bool, String) {
    let log = state::folder(&lab.plan.name).join("log/expectation.log");
    let _ = std::fs::remove_file(&log);
    let started = command(lab, asked, &log)
        .and_then(|mut it| it.spawn().map_err(LabError::kernel("cannot start `sh`")));
    let mut child = match started {
        Ok(child) => child,
        Err(error) => return (false, chain(&error)),
    };
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Ok(Some(status)) = child.try_wait() {
            return (status.success() || asked.may_fail, tail(&log));
        }
        std::thread::sleep(TICK);
    }
    let _ = child.kill();
    (false, format!("it did not end within {} s", PATIENCE.as_secs()))
}

impl Running {
    /// Records how the command has ended, if it has.
    fn has_ended(&mut self, done: &mut [StepOutcome]) -> bool {
        let Ok(Some(status)) = self.child.try_wait() else { return false };
        let outcome = &mut done[self.step];
        outcome.exit_code = status.code();
        outcome.passed = status.success() || self.may_fail;
        outcome.output = self.tail();
        true
    }

    fn tail(&self) -> String {
        tail(&self.log)
    }
}

/// The end of a log.
fn tail(log: &std::path::Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let from = text.len().saturating_sub(MAX_OUTPUT);
    String::from_utf8_lossy(&text[from..]).trim().to_owned()
}

/// An error with its causes.
fn chain(error: &LabError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}

const TICK: Duration = Duration::from_millis(20);
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// The time that commands have to end after the run.
const GRACE: Duration = Duration::from_secs(2);
/// Maximum duration of an expectation's command.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of a command's output that are kept.
const MAX_OUTPUT: usize = 2000;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::unplayed;
    use crate::topology::{Action, Fault};

    #[test]
    fn a_step_after_the_end_has_failed_and_says_why() {
        let fault = Action::Fault(Fault::Break { a: "leaf1".into(), b: "spine1".into() });

        let outcome = unplayed(Duration::from_secs(3), &fault);

        assert_eq!((outcome.at, outcome.step.as_str()), (3.0, "break leaf1 spine1"));
        assert_eq!((outcome.passed, outcome.output.as_str()), (false, "the run ended before"));
    }
}
