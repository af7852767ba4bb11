//! The table on standard output: OSU's columns (size and value), with the test, transport and ranks before them and, where a
//! benchmark measures one, its floor after.

use lwk_abi::runtime::TRANSPORTS;

use super::results::{BYTES, Measurement};

/// The head of the table.
pub fn head() -> String {
    format!(
        "# {:<20}{:<14}{:>6}{:>16}{:>14} {:<20}{:>14}{:>9}",
        "test", "transport", "ranks", "size", "value", "unit", "floor", "ratio"
    )
    .trim_end()
    .to_owned()
}

/// The line of a measurement. A size that does not count bytes has its name with it.
pub fn line(one: &Measurement) -> String {
    let size = if one.key == BYTES || one.of.parse::<f64>().is_err() {
        one.of.clone()
    } else {
        format!("{} {}", one.of, one.key.split_whitespace().next().unwrap_or_default())
    };
    let figure =
        |figure: Option<f64>, digits: usize| figure.map_or("-".into(), |value| format!("{value:.digits$}"));
    format!(
        "{:<22}{:<14}{:>6}{:>16}{:>14.3} {:<20}{:>14}{:>9}",
        format!("{} {}", family(&one.program), one.test),
        one.transport,
        one.ranks,
        size,
        one.value,
        one.unit,
        figure(one.floor, 3),
        figure(one.ratio, 2),
    )
}

/// `mpi` of `mpi-bench`: tells apart the tests that both programs have.
pub fn family(program: &str) -> &str {
    program.strip_suffix("-bench").unwrap_or(program)
}

/// Where `smartmap` is slower than the best of the other transports, which from 64 KiB on it should never be: a line for each, with the factor. Times are slower if
/// longer, everything else if less. A measurement that `smartmap` alone has is not compared.
pub fn slower(measurements: &[Measurement]) -> Vec<String> {
    let (ours, others): (Vec<_>, Vec<_>) =
        measurements.iter().partition(|one| one.transport == TRANSPORTS[0]);
    let same = |one: &Measurement, other: &Measurement| {
        (&one.program, &one.test, one.ranks, &one.of, &one.unit)
            == (&other.program, &other.test, other.ranks, &other.of, &other.unit)
    };
    let factor = |ours: &Measurement, theirs: &Measurement| match ours.unit.as_str() {
        "us" | "KiB" => ours.value / theirs.value,
        _ => theirs.value / ours.value,
    };
    let line = |ours: &&Measurement| {
        let compared = others.iter().filter(|theirs| same(ours, theirs));
        let factors = compared.map(|theirs| (factor(ours, theirs), &theirs.transport));
        let (factor, transport) = factors.max_by(|one, other| one.0.total_cmp(&other.0))?;
        (factor > 1.0).then(|| {
            let (family, test) = (family(&ours.program), &ours.test);
            format!("{family} {test} on {} ranks at {}: {factor:.2} of {transport}", ours.ranks, ours.of)
        })
    };
    ours.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slower_is_longer_for_times_and_less_for_rates() {
        let one = |transport: &str, test: &str, unit: &str, of: &str, value: f64| Measurement {
            program: "mpi-bench".into(),
            test: test.into(),
            transport: transport.into(),
            ranks: 2,
            key: BYTES.into(),
            of: of.into(),
            value,
            unit: unit.into(),
            floor: None,
            ratio: None,
        };
        let measured = [
            one("smartmap", "latency", "us", "8", 1.0),
            one("smartmap", "latency", "us", "64", 3.0),
            one("smartmap", "bw", "MB/s", "8", 10.0),
            one("smartmap", "bw", "MB/s", "64", 10.0),
            one("shm-basic", "latency", "us", "8", 0.1),
            one("shm-advanced", "latency", "us", "8", 2.0),
            one("shm-advanced", "latency", "us", "64", 2.0),
            one("shm-advanced", "bw", "MB/s", "8", 20.0),
            one("shm-advanced", "bw", "MB/s", "64", 5.0),
        ];
        let slow = [
            "mpi latency on 2 ranks at 8: 10.00 of shm-basic",
            "mpi latency on 2 ranks at 64: 1.50 of shm-advanced",
            "mpi bw on 2 ranks at 8: 2.00 of shm-advanced",
        ];
        assert_eq!(slower(&measured), slow);
        assert!(slower(&measured[..4]).is_empty());
    }

    #[test]
    fn columns_line_up_and_missing_figures_are_dashes() {
        let one = Measurement {
            program: "mpi-bench".into(),
            test: "mbw_mr".into(),
            transport: "smartmap".into(),
            ranks: 4,
            key: "pairs".into(),
            of: "2".into(),
            value: 1.5,
            unit: "Million messages/s".into(),
            floor: None,
            ratio: None,
        };
        let words = |line: &str| line.split_whitespace().map(String::from).collect::<Vec<_>>();
        assert_eq!(
            words(&line(&one)),
            ["mpi", "mbw_mr", "smartmap", "4", "2", "pairs", "1.500", "Million", "messages/s", "-", "-"]
        );
        let bytes =
            Measurement { key: BYTES.into(), floor: Some(0.5), ratio: Some(3.0), unit: "us".into(), ..one };
        assert_eq!(words(&line(&bytes))[4..], ["2", "1.500", "us", "0.500", "3.00"]);
        assert_eq!(line(&bytes).len(), head().len());
    }
}
