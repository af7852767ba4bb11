//! Algorithms by name: which form of a blocking collective a run uses, so that they can be compared.
//!
//! `MARGAY_COLL_BARRIER=paper` and its like in the environment force a form wherever it can do the case ([`Form::limits`]); elsewhere,
//! and without a name, the form is chosen by size and number of ranks, as measured (docs/measurements/collectives.md). All ranks must get the same environment.

use alloc::format;
use alloc::string::String;
use lwk_path::setting::Bad;

/// One form of an operation, for lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// The variable that names it.
    pub variable: &'static str,
    pub name: &'static str,
    /// What it does, and for which cases.
    pub limits: &'static str,
}

macro_rules! algorithms {
    ($($(#[$doc:meta])* $operation:ident: $type:ident = $variable:literal { $($(#[$form_doc:meta])* $form:ident = $name:literal, $limits:literal;)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            pub(crate) enum $type { $(#[doc = $limits] $form,)* }
        )*

        /// What the environment forces.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub(crate) struct Algorithms {
            $(pub $operation: Option<$type>,)*
        }

        /// Every form of every operation.
        pub const FORMS: &[Form] = &[
            $($(Form { variable: $variable, name: $name, limits: $limits },)*)*
        ];

        /// The variables that force a form.
        pub const VARIABLES: &[&str] = &[$($variable),*];
        /// How they begin.
        pub const PREFIX: &str = "MARGAY_COLL_";

        impl Algorithms {
            /// Reads the environment. Errors: a name that no form has.
            pub fn from_environment(find: impl Fn(&str) -> Option<&'static str>) -> Result<Algorithms, Bad> {
                let mut algorithms = Algorithms::default();
                $(
                    if let Some(name) = find($variable) {
                        algorithms.$operation = Some(match name {
                            $($name => $type::$form,)*
                            _ => return Err(unknown($variable, name)),
                        });
                    }
                )*
                Ok(algorithms)
            }

            /// The name of the form that an operation is set to; `None` if none is, or there is no such variable.
            pub fn form_of(&self, variable: &str) -> Option<&'static str> {
                match variable {
                    $($variable => self.$operation.map(|form| match form { $($type::$form => $name,)* }),)*
                    _ => None,
                }
            }

            /// Sets an operation to a form; `None` leaves the choice to the runtime. All ranks must do the same.
            pub fn set_form(&mut self, variable: &str, form: Option<&str>) -> Result<(), Bad> {
                match (variable, form) {
                    $(
                        ($variable, None) => self.$operation = None,
                        $(($variable, Some($name)) => self.$operation = Some($type::$form),)*
                    )*
                    (variable, form) => return Err(unknown(variable, form.unwrap_or_default())),
                }
                Ok(())
            }
        }
    };
}

algorithms! {
    /// Forms of the barrier.
    barrier: Barrier = "MARGAY_COLL_BARRIER" {
        Paper = "paper", "a counter in the first rank's memory (SMARTMAP paper)";
        Dissemination = "dissemination", "rounds of one line each; any number of ranks";
        Direct = "direct", "every rank tells every other; up to 9 ranks";
        Line = "line", "one line of both; 2 ranks";
    }
    /// Forms of broadcast.
    broadcast: Broadcast = "MARGAY_COLL_BCAST" {
        Paper = "paper", "the root posts its buffer, the others copy and count themselves (SMARTMAP paper)";
        Line = "line", "in lines of the root's; up to 1072 bytes";
        Pull = "pull", "the others copy from the root's buffer";
        Halves = "halves", "root and receiver copy a half each; 2 ranks";
    }
    /// Forms of reduce.
    reduce: Reduce = "MARGAY_COLL_REDUCE" {
        Paper = "paper", "ranks take turns on the root's buffer (SMARTMAP paper); operations that commute";
        Line = "line", "the root folds lines of each; up to 1072 bytes, predefined operations";
        Slices = "slices", "every rank folds a share of the items into the root's buffer";
    }
    /// Forms of allreduce.
    allreduce: Allreduce = "MARGAY_COLL_ALLREDUCE" {
        Paper = "paper", "the paper's reduce, then its broadcast; operations that commute";
        Pair = "pair", "one line of both; 2 ranks, up to 8 bytes, predefined operations";
        Line = "line", "every rank folds a line of each; up to 56 bytes, predefined operations";
        Eager = "eager", "every rank folds a copy of each; up to 1080 bytes, predefined operations";
        Slices = "slices", "every rank folds a share of the items into all buffers";
    }
    /// Forms of alltoall.
    alltoall: Alltoall = "MARGAY_COLL_ALLTOALL" {
        Paper = "paper", "every rank in turn is the root of a broadcast (SMARTMAP paper)";
        Pair = "pair", "one line of both; 2 ranks, up to 8 bytes for each";
        Line = "line", "a line of each; up to 56 bytes for all ranks together";
        Pull = "pull", "every rank loads what is for it";
        Push = "push", "every rank stores what it has for the others";
    }
    /// Forms of barrier, broadcast, reduce and allreduce by messages.
    between: Between = "MARGAY_COLL_BETWEEN_NODES" {
        Levels = "levels", "trees within the nodes, and between them one rank of each; members of a node next to each other in the communicator";
        Triggered = "triggered", "the same; between nodes, blocking barriers and reductions of up to 512 bytes by operations that the kernels set off";
        Flat = "flat", "all ranks alike, wherever they are";
    }
}

fn unknown(variable: &str, name: &str) -> Bad {
    let mut names = String::new();
    for form in FORMS.iter().filter(|form| form.variable == variable) {
        if !names.is_empty() {
            names.push_str(", ");
        }
        names.push_str(form.name);
    }
    Bad(format!("{variable}={name}: there is no such form; there are {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_set_by_name_and_told() {
        let mut algorithms = Algorithms::default();
        for form in FORMS {
            assert!(form.variable.starts_with(PREFIX) && VARIABLES.contains(&form.variable));
            assert_eq!(algorithms.set_form(form.variable, Some(form.name)), Ok(()));
            assert_eq!(algorithms.form_of(form.variable), Some(form.name));
            assert!(algorithms.set_form(form.variable, Some("magic")).is_err());
        }
        assert_eq!(algorithms.set_form("MARGAY_COLL_BCAST", None), Ok(()));
        assert_eq!(algorithms.form_of("MARGAY_COLL_BCAST"), None);
        assert!(algorithms.set_form("MARGAY_COLL_MAGIC", None).is_err());
        assert_eq!(algorithms.form_of("MARGAY_COLL_MAGIC"), None);
    }

    #[test]
    fn forms_are_found_by_name_and_a_wrong_name_tells_the_right_ones() {
        assert_eq!(Algorithms::from_environment(|_| None), Ok(Algorithms::default()));
        for form in FORMS {
            let chosen = Algorithms::from_environment(|name| (name == form.variable).then_some(form.name));
            assert_ne!(chosen, Ok(Algorithms::default()), "{form:?}");
        }
        let wrong = |name: &str| (name == "MARGAY_COLL_REDUCE").then_some("magic");
        let Err(Bad(line)) = Algorithms::from_environment(wrong) else { panic!("magic is no form") };
        assert_eq!(line, "MARGAY_COLL_REDUCE=magic: there is no such form; there are paper, line, slices");
    }
}
