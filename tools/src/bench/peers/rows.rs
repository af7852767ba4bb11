//! What is compared: a test of a C benchmark at one size, and how much faster than the best peer it is meant to be.

/// A row of the table.
pub struct Row {
    /// The program, in `apps/c/bench`.
    pub program: &'static str,
    pub test: &'static str,
    /// Bytes; `None` for tests without sizes.
    pub size: Option<usize>,
    /// More is better.
    pub is_rate: bool,
    /// How many times as fast as the best peer at least, near cores.
    pub aim: f64,
}

const fn time(program: &'static str, test: &'static str, size: usize, aim: f64) -> Row {
    Row { program, test, size: Some(size), is_rate: false, aim }
}

const fn rate(program: &'static str, test: &'static str, size: usize, aim: f64) -> Row {
    Row { program, test, size: Some(size), is_rate: true, aim }
}

/// All rows.
pub const ROWS: [Row; 23] = [
    time("pt2pt", "latency", 0, 1.6),
    time("pt2pt", "latency", 8, 1.6),
    time("pt2pt", "latency_dirty", 64 << 10, 1.5),
    time("pt2pt", "latency_dirty", 4 << 20, 1.5),
    rate("pt2pt", "mbw_mr", 8, 2.5),
    rate("pt2pt", "bw", 8 << 10, 2.2),
    rate("pt2pt", "bw", 64 << 10, 1.9),
    rate("pt2pt", "bw", 1 << 20, 1.4),
    Row { program: "collective", test: "barrier", size: None, is_rate: false, aim: 2.2 },
    time("onesided", "put_fence", 8, 2.0),
    time("onesided", "put_latency", 8, 1.0),
    time("onesided", "get_latency", 8, 1.0),
    time("collective", "bcast", 8, 1.5),
    time("collective", "bcast", 64 << 10, 1.9),
    time("collective", "reduce", 8, 1.5),
    time("collective", "reduce", 64 << 10, 2.0),
    time("collective", "reduce", 1 << 20, 1.8),
    time("collective", "allreduce", 8, 1.8),
    time("collective", "allreduce", 64 << 10, 2.4),
    time("collective", "allreduce", 1 << 20, 2.0),
    time("collective", "alltoall", 8, 1.5),
    time("collective", "alltoall", 64 << 10, 2.0),
    time("collective", "allgather", 64 << 10, 1.0),
];

impl Row {
    /// The test and its size.
    pub fn title(&self) -> String {
        match self.size {
            None => self.test.to_owned(),
            Some(size) if size >= 1 << 20 => format!("{} {} MiB", self.test, size >> 20),
            Some(size) if size >= 1 << 10 => format!("{} {} KiB", self.test, size >> 10),
            Some(size) => format!("{} {size} B", self.test),
        }
    }

    pub fn unit(&self) -> &'static str {
        match (self.is_rate, self.test) {
            (false, _) => "us",
            (true, "mbw_mr") => "messages/s",
            (true, _) => "MB/s",
        }
    }

    /// The program's arguments.
    pub fn arguments(&self, iterations: u32) -> Vec<String> {
        let mut words = vec![self.test.to_owned(), "-j".into(), "-i".into(), iterations.to_string()];
        if let Some(size) = self.size {
            words.extend(["-m".into(), format!("{size}:{size}")]);
        }
        words
    }

    /// The value in the program's output. The error is what is wrong.
    pub fn read(&self, output: &str) -> Result<f64, String> {
        let parsed =
            output.lines().rev().find_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let value = parsed.and_then(|json| json.get("value")?.as_f64());
        value.filter(|value| *value > 0.0).ok_or_else(|| "it printed no result".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_the_last_json_line() {
        let read = |text: &str| ROWS[0].read(text);
        assert_eq!(
            read("noise\n{\"test\":\"latency\",\"size\":0,\"value\":0.25,\"unit\":\"us\"}\n"),
            Ok(0.25)
        );
        assert!(read("").is_err());
        assert!(read("{\"value\":0}").is_err());
    }

    #[test]
    fn titles_say_the_size() {
        assert_eq!(ROWS[2].title(), "latency_dirty 64 KiB");
        assert_eq!(ROWS[8].title(), "barrier");
    }
}
