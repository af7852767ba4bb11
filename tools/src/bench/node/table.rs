//! The table on standard output: OSU's columns (size and value), with the test, transport and ranks before them and, where a
//! benchmark measures one, its floor after.

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
        format!("{} {}", one.of, one.key)
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

#[cfg(test)]
mod tests {
    use super::*;

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
