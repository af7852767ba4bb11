//! Order statistics of samples.

use alloc::vec::Vec;

/// What is reported of a set of samples, in the samples' unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    pub minimum: f64,
    pub median: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// How many samples there were.
    pub samples: usize,
}
crate::json_object!(Summary { minimum, median, p99, samples });

impl Summary {
    /// The summary of these samples; of none, all zero. Percentiles by the nearest rank.
    pub fn of(mut samples: Vec<f64>) -> Summary {
        samples.sort_unstable_by(f64::total_cmp);
        let nearest = |percent: usize| {
            let rank = (samples.len() * percent).div_ceil(100).max(1);
            samples.get(rank - 1).copied().unwrap_or(0.0)
        };
        Summary { minimum: nearest(0), median: nearest(50), p99: nearest(99), samples: samples.len() }
    }

    /// The same in another unit, of which one of the present makes `factor`.
    pub fn scaled(self, factor: f64) -> Summary {
        Summary {
            minimum: self.minimum * factor,
            median: self.median * factor,
            p99: self.p99 * factor,
            samples: self.samples,
        }
    }
}
