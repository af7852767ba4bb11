//! The figures of the source documents that one node can answer: which tests draw each, what the document concludes from it, and whether that holds in what has
//! been measured. Numbers are the documents' own.

use super::{apart, applications, hybrid, kernel_copies, profiles, shared_memory, smartmap};
use crate::node::figures::{Form, Panel, Ranks, panel};
use crate::node::results::Measurement;

/// What the number of a table begins with.
const TABLE: &str = "table-";

/// `figure 6.8`, or `table 6.1`.
pub fn heading(number: &str) -> String {
    let table = number.strip_prefix(TABLE).map(|number| format!("table {number}"));
    table.unwrap_or_else(|| format!("figure {number}"))
}

/// A figure that can be drawn, or a table, whose number is as `table-6.1`.
#[derive(Debug)]
pub struct Drawn {
    pub number: &'static str,
    pub title: &'static str,
    pub panels: &'static [Panel],
    /// What the document concludes, and the numbers that it prints.
    pub claim: &'static str,
    /// Whether it holds; none if what it is about has not been measured.
    pub holds: fn(&[Measurement]) -> Option<bool>,
}

/// One that cannot, and what is missing.
#[derive(Debug)]
pub struct Missing {
    pub number: &'static str,
    pub why: &'static str,
}

/// Of the bundled applications' times.
pub const fn of_applications(
    letter: char,
    title: &'static str,
    tests: &'static [&'static str],
    quantity: &'static str,
    form: Form,
) -> Panel {
    Panel { program: applications::PROGRAM, form, ..panel(letter, title, tests, quantity) }
}

/// Of a collective between ranks that are apart.
pub const fn by_messages(letter: char, title: &'static str, tests: &'static [&'static str]) -> Panel {
    Panel { program: apart::PROGRAM, ranks: Ranks::All, ..panel(letter, title, tests, "Latency") }
}

/// Shares of messages by class, a bar for each program.
pub const fn of_profiles(letter: char, title: &'static str, tests: &'static [&'static str]) -> Panel {
    Panel { program: profiles::PROGRAM, form: Form::Stacked, ..panel(letter, title, tests, "Share") }
}

const CHAI_MISSING: &[Missing] =
    &[Missing { number: "4.8", why: "LU-MZ and SP-MZ are not bundled, and a rank has one thread" }];

/// A source document by the number of its file.
#[derive(Debug)]
pub struct Document {
    pub number: &'static str,
    pub title: &'static str,
    /// By groups of chapters.
    groups: &'static [&'static [Drawn]],
    pub missing: &'static [Missing],
}

impl Document {
    /// The figures that can be drawn, in their order.
    pub fn drawn(&self) -> impl Iterator<Item = &'static Drawn> + use<> {
        self.groups.iter().copied().flatten()
    }
}

/// Those that have figures one node can answer.
pub const DOCUMENTS: [Document; 2] = [
    Document {
        number: "000",
        title: "Chai's dissertation",
        groups: &[shared_memory::DRAWN, kernel_copies::DRAWN, hybrid::DRAWN],
        missing: CHAI_MISSING,
    },
    Document { number: "001", title: "The SMARTMAP paper", groups: &[smartmap::DRAWN], missing: &[] },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn one(test: &str, transport: &str, of: u64, value: f64) -> Measurement {
        Measurement {
            program: "mpi-bench".into(),
            test: test.into(),
            transport: transport.into(),
            ranks: 2,
            key: "bytes".into(),
            of: of.to_string(),
            value,
            unit: "us".into(),
            floor: None,
            ratio: None,
        }
    }

    fn figure(number: &str) -> &'static Drawn {
        DOCUMENTS[0].drawn().find(|figure| figure.number == number).unwrap()
    }

    #[test]
    fn every_figure_stands_once_and_what_cannot_be_drawn_says_why() {
        for document in &DOCUMENTS {
            let drawn = document.drawn().map(|figure| figure.number);
            let mut numbers: Vec<&str> = drawn.chain(document.missing.iter().map(|it| it.number)).collect();
            numbers.sort_unstable();
            let count = numbers.len();
            numbers.dedup();
            assert_eq!(numbers.len(), count, "{}", document.title);
        }
        assert!(CHAI_MISSING.iter().all(|missing| !missing.why.is_empty()));
    }

    #[test]
    fn a_conclusion_holds_or_does_not_or_cannot_be_said() {
        let skew = |hybrid, basic| {
            [one("skew_by_computing", "hybrid", 50, hybrid), one("skew_by_computing", "shm-basic", 50, basic)]
        };
        let holds = figure("6.8").holds;
        assert_eq!(holds(&skew(2.0, 1.8)), Some(true));
        assert_eq!(holds(&skew(48.0, 1.8)), Some(false));
        assert_eq!(holds(&skew(2.0, 1.8)[..1]), None);
        assert!(DOCUMENTS.iter().flat_map(Document::drawn).all(|figure| (figure.holds)(&[]).is_none()));
    }
}
