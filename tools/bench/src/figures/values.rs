//! Values of what was measured, and which of two are better at all of some sizes.

use crate::node::results::Measurement;

/// The value of a test by a transport: at a size, or the last.
pub fn value(all: &[Measurement], test: &str, transport: &str, of: Option<u64>) -> Option<f64> {
    let of = of.map(|of| of.to_string());
    let is_it = |one: &&Measurement| {
        one.test == test && one.transport == transport && of.as_ref().is_none_or(|of| *of == one.of)
    };
    all.iter().rfind(is_it).map(|one| one.value)
}

/// Whether the first transport's value is below the second's, for every one of these sizes.
pub fn is_below(all: &[Measurement], test: &str, transports: [&str; 2], sizes: &[u64]) -> Option<bool> {
    let each = sizes.iter().map(|size| {
        let [first, second] = transports.map(|transport| value(all, test, transport, Some(*size)));
        Some(first? < second?)
    });
    each.collect::<Option<Vec<bool>>>().map(|below| below.into_iter().all(|it| it))
}

/// The same for a rate: larger is better.
pub fn is_above(all: &[Measurement], test: &str, transports: [&str; 2], sizes: &[u64]) -> Option<bool> {
    let [first, second] = transports;
    is_below(all, test, [second, first], sizes)
}
