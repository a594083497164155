//! The requirements and citations that are invalid.

use std::collections::BTreeSet;

use super::citation::{Citations, Places};
use super::requirement::{Document, Requirement, Scope, Section};
use crate::problem::Problem;

/// Checks the requirements themselves, then the citations in both directions.
pub(super) fn audit(documents: &[Document], citations: &Citations) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut known = BTreeSet::new();
    for document in documents {
        for section in &document.sections {
            for requirement in &section.requirements {
                let name = format!("{}/{}", document.name, requirement.id);
                let mut faults = faults(section, requirement, citations.get(&name));
                if !known.insert(name) {
                    faults.push("this id is given twice".into());
                }
                let place = format!("{} {}", section.path, requirement.id);
                problems.extend(faults.into_iter().map(|what| Problem::new(&place, what)));
            }
        }
    }
    for (name, places) in
        citations.iter().filter(|(name, _)| !known.contains(*name) && is_meant(name, documents))
    {
        let what = format!("cites {name}, which is no requirement");
        problems.extend(places.lines.iter().map(|line| Problem::new(line, &what)));
    }
    problems
}

/// False for a path or an address that only looks like a citation: it has no number and no document of this
/// workspace.
fn is_meant(name: &str, documents: &[Document]) -> bool {
    let Some((document, id)) = name.split_once('/') else { return false };
    id.contains('-') || documents.iter().any(|known| known.name == document)
}

fn faults(section: &Section, requirement: &Requirement, places: Option<&Places>) -> Vec<String> {
    let standing = standing(requirement).map(String::from);
    [wording(section, requirement), standing, cited(requirement, places)].into_iter().flatten().collect()
}

/// Faults of the id and the texts.
fn wording(section: &Section, requirement: &Requirement) -> Option<String> {
    let number = requirement.id.strip_prefix(&section.name).and_then(|rest| rest.strip_prefix('-'));
    let numbered =
        number.is_some_and(|digits| digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit()));
    if !numbered {
        return Some(format!("an id of this file is {}- and two digits", section.name));
    }
    let blank = |text: &str| text.trim().is_empty();
    (blank(&requirement.text) || blank(&requirement.section)).then(|| "section and text say something".into())
}

/// Faults of exception, scope, status and reason.
fn standing(requirement: &Requirement) -> Option<&'static str> {
    let says_nothing = |text: &Option<String>| text.as_ref().is_none_or(|text| text.trim().is_empty());
    if requirement.exception.is_some() && says_nothing(&requirement.exception) {
        return Some("an exception states its reason");
    }
    match (requirement.status, requirement.scope) {
        (Some(_), _) if requirement.exception.is_some() => Some("it is an exception or not built, not both"),
        (Some(_), None) => Some("only a requirement with scope = \"encapsulation\" may be not built"),
        (Some(_), Some(Scope::Encapsulation)) if says_nothing(&requirement.reason) => {
            Some("a requirement that is not built states its reason")
        }
        (None, _) if requirement.reason.is_some() => Some("a reason belongs to a status"),
        _ => None,
    }
}

/// Faults of the citations in code and tests.
fn cited(requirement: &Requirement, places: Option<&Places>) -> Option<String> {
    let in_code = places.is_some_and(|places| !places.code.is_empty());
    let in_tests = places.is_some_and(|places| !places.tests.is_empty());
    if requirement.status.is_some() && in_code {
        return Some("is called not built, but code cites it".into());
    }
    let missing = match (in_code, in_tests) {
        (true, true) => return None,
        (true, false) => "no test cites",
        (false, true) => "no code cites",
        (false, false) => "neither code nor a test cites",
    };
    requirement.needs_citation().then(|| format!("a must that {missing}: {}", requirement.text))
}
