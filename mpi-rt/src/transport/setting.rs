//! Which transport a run uses: `MARGAY_TRANSPORT` in its environment, which `cargo lwk run --transport` sets.

use super::chosen::Kind;
use alloc::format;
use alloc::string::String;
use lwk_user::abi::exit::USAGE;
use lwk_user::abi::runtime::TRANSPORT as VARIABLE;
use lwk_user::{NodeRank, eprintln, job, start, wait};

/// A variable whose value makes no sense: one line that says what would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad(pub String);

/// The transport that the environment names, or the default. Errors: a name that no transport has.
pub fn kind(find: impl Fn(&str) -> Option<&'static str>) -> Result<Kind, Bad> {
    let Some(name) = find(VARIABLE) else { return Ok(Kind::Smartmap) };
    Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let names = Kind::ALL.map(Kind::name).join(", ");
        Bad(format!("{VARIABLE}={name}: there is no such transport; there are {names}"))
    })
}

/// Whether every variable that begins with `prefix` is one of `known`. One with a slip in its name would otherwise be without effect, and
/// nobody would see it.
pub fn none_but<'a>(
    prefix: &str,
    known: &[&str],
    mut variables: impl Iterator<Item = &'a str>,
) -> Result<(), Bad> {
    match variables.find(|name| name.starts_with(prefix) && !known.contains(name)) {
        Some(name) => Err(Bad(format!("{name}: there is no such variable; there are {}", known.join(", ")))),
        None => Ok(()),
    }
}

/// Ends the job for wrong use. All ranks come to the same result and call it; the first speaks.
pub fn refuse(Bad(line): &Bad) -> ! {
    if job().node_rank() == NodeRank(0) {
        eprintln!("{line}");
        start::exit(USAGE);
    }
    wait::spin_until(|| false);
    unreachable!("an endless wait has ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_with_a_slip_in_its_name_is_told() {
        let known = ["MARGAY_COLL_BCAST", "MARGAY_COLL_REDUCE"];
        let among = |names: &[&'static str]| none_but("MARGAY_COLL_", &known, names.iter().copied());
        assert_eq!(among(&["PATH", "MARGAY_COLL_REDUCE", "MARGAY_SHM_CELL"]), Ok(()));
        let Err(Bad(line)) = among(&["PATH", "MARGAY_COLL_BCST"]) else { panic!("there is no BCST") };
        assert_eq!(
            line,
            "MARGAY_COLL_BCST: there is no such variable; there are MARGAY_COLL_BCAST, MARGAY_COLL_REDUCE"
        );
    }

    #[test]
    fn transports_are_found_by_name_and_a_wrong_name_tells_the_right_ones() {
        assert_eq!(kind(|_| None), Ok(Kind::Smartmap));
        for each in Kind::ALL {
            assert_eq!(kind(|name| (name == VARIABLE).then_some(each.name())), Ok(each));
        }
        let Bad(line) = kind(|_| Some("carrier-pigeon")).unwrap_err();
        assert!(Kind::ALL.iter().all(|kind| line.contains(kind.name())), "{line}");
    }
}
