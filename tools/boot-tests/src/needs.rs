//! Which guest programs a test runs, so that a choice of tests builds no others.

use std::collections::BTreeSet;

use lwk::build::{self, Builder, Programs};
use lwk::catalog::Named;
use lwk::failure::Outcome;
use lwk::subcommand::Program;
use lwk::tree::Tree;

/// What a test needs beside its own sources in C and Fortran.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Any of the guest programs: the test does not say.
    Any,
    /// Nothing but its sources.
    Sources,
    /// A bundled program, by name.
    Bundled(String),
    /// A program of the package of boot tests.
    Test(String),
}

impl Needs {
    /// Of a test that runs just this program.
    pub fn of(program: &Program) -> Self {
        match program {
            Program::Bundled(name) => Self::Bundled(name.clone()),
            Program::Test(name) => Self::Test(name.clone()),
            Program::C(_) => Self::Sources,
            // A file of the tree may be one of what a build leaves.
            Program::File(_) => Self::Any,
        }
    }
}

/// Builds the programs that tests with these `needs` run: all there are, if one does not say which. Errors: what does not build.
pub fn build(tree: &Tree, builder: &Builder, needs: &[&Needs]) -> Outcome<()> {
    match programs(tree, needs) {
        None => builder.programs(&[build::APPS, build::MPI_APPS, build::BOOT_TESTS]),
        Some(programs) => programs.into_iter().try_for_each(|(of, name)| builder.program(of, &name)),
    }
}

/// The programs by package and name; none if one of the needs is any program, or there is no such program.
fn programs(tree: &Tree, needs: &[&Needs]) -> Option<Vec<(Programs, String)>> {
    let needs: BTreeSet<&Needs> = needs.iter().copied().collect();
    let programs = needs.into_iter().map(|need| match need {
        Needs::Any => None,
        Needs::Sources => Some(None),
        Needs::Test(name) => Some(Some((build::BOOT_TESTS, name.clone()))),
        Needs::Bundled(name) => match Named::find(tree, name).ok()? {
            Named::Bundled(name, of) => Some(Some((of, name))),
            Named::C(_) | Named::File(_) => None,
        },
    });
    programs.collect::<Option<Vec<_>>>().map(|programs| programs.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_of_tests_builds_what_it_runs() {
        let tree = Tree::find().unwrap();
        let (hello, call) = (Needs::Bundled("hello".into()), Needs::Test("crash".into()));
        let expected = vec![(build::APPS, "hello".into()), (build::BOOT_TESTS, "crash".into())];
        assert_eq!(programs(&tree, &[&call, &hello, &Needs::Sources, &hello]), Some(expected));
        assert_eq!(programs(&tree, &[&hello, &Needs::Any]), None);
        assert_eq!(programs(&tree, &[&Needs::Bundled("no-such-program".into())]), None);
    }
}
