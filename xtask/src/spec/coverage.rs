//! The text of spec/coverage.md.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::citation::{Citations, Places};
use super::requirement::{Document, Level, Requirement, Section};

/// The coverage of a requirement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Covered,
    Part,
    Open,
    Exception,
    NotBuilt,
}

impl Standing {
    const ALL: [Self; 5] = [Self::Covered, Self::Part, Self::Open, Self::Exception, Self::NotBuilt];

    fn of(requirement: &Requirement, places: &Places) -> Self {
        match (places.code.is_empty(), places.tests.is_empty()) {
            _ if requirement.exception.is_some() => Self::Exception,
            _ if requirement.status.is_some() => Self::NotBuilt,
            (false, false) => Self::Covered,
            (true, true) => Self::Open,
            _ => Self::Part,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Covered => "covered",
            Self::Part => "part",
            Self::Open => "open",
            Self::Exception => "exception",
            Self::NotBuilt => "not built",
        }
    }
}

/// The whole file.
pub(super) fn render(documents: &[Document], citations: &Citations) -> String {
    let mut text = String::from(HEAD);
    for document in documents {
        writeln!(text, "\n## {}\n", document.name).expect("a String takes all that is written");
        text.push_str(&summary(document, citations));
        for section in &document.sections {
            text.push_str(&table(document, section, citations));
        }
    }
    text
}

/// The number of requirements of each level by coverage.
fn summary(document: &Document, citations: &Citations) -> String {
    let names: Vec<_> = Standing::ALL.iter().map(|standing| standing.name()).collect();
    let mut text =
        format!("| level | all | {} |\n| --- |{}\n", names.join(" | "), " ---: |".repeat(names.len() + 1));
    for level in [Level::Must, Level::Should, Level::May] {
        let standings: Vec<_> = requirements(document)
            .filter(|requirement| requirement.level == level)
            .map(|requirement| Standing::of(requirement, &places(document, requirement, citations)))
            .collect();
        let counts =
            Standing::ALL.map(|wanted| standings.iter().filter(|one| **one == wanted).count().to_string());
        writeln!(text, "| {level} | {} | {} |", standings.len(), counts.join(" | "))
            .expect("a String takes all that is written");
    }
    text
}

fn table(document: &Document, section: &Section, citations: &Citations) -> String {
    let mut text = format!(
        "\n### {}\n\n| id | level | requirement | where |\n| --- | --- | --- | --- |\n",
        section.name
    );
    for requirement in &section.requirements {
        let places = places(document, requirement, citations);
        let Requirement { id, level, text: words, .. } = requirement;
        writeln!(text, "| {id} | {level} | {} | {} |", cell(words), cell(&standing(requirement, &places)))
            .expect("a String takes all that is written");
    }
    text
}

/// The coverage in words, with the files that cite the requirement.
fn standing(requirement: &Requirement, places: &Places) -> String {
    let standing = Standing::of(requirement, places);
    let why = requirement.exception.as_ref().or(requirement.reason.as_ref());
    let mut text = match why {
        Some(why) => format!("{}: {why}", standing.name()),
        None => standing.name().to_string(),
    };
    for (kind, files) in [("code", &places.code), ("test", &places.tests)] {
        if !files.is_empty() {
            write!(text, "; {kind} {}", links(files)).expect("a String takes all that is written");
        }
    }
    text
}

/// Links from `spec/` to files given by their paths from the workspace root.
fn links(files: &BTreeSet<String>) -> String {
    let link = |path: &String| format!("[{}](../{path})", path.strip_prefix("crates/").unwrap_or(path));
    files.iter().map(link).collect::<Vec<_>>().join(", ")
}

fn requirements(document: &Document) -> impl Iterator<Item = &Requirement> {
    document.sections.iter().flat_map(|section| &section.requirements)
}

fn places(document: &Document, requirement: &Requirement, citations: &Citations) -> Places {
    citations.get(&format!("{}/{}", document.name, requirement.id)).cloned().unwrap_or_default()
}

/// A text that does not end its table cell prematurely.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

const HEAD: &str = "\
# Coverage of the specifications

Written by `cargo xtask spec` from `spec/requirements` and from the citations in `crates`. Texts are ours; the
specifications' own words decide. *Covered*: cited by code and by a test. *Part*: cited by one of the two.
*Exception*: not followed, or binding others. *Not built*: belongs to an encapsulation that lacks it.
";
