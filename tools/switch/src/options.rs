//! What a switch and its wires are like, in words: `loss=0.01,bandwidth=1000,apart=2+3@500-1500,seed=7`.

/// What happens to frames, each with a chance of its own from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    pub loss: f64,
    pub duplicate: f64,
    /// The frame goes behind the next one to the same port.
    pub reorder: f64,
    /// One bit is turned over.
    pub corrupt: f64,
    pub seed: u64,
}

/// The wire from the switch to a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Million bits a second; none: as fast as this machine is.
    pub bandwidth: Option<u64>,
    /// Nanoseconds from the end of a frame's transmission to its arrival.
    pub latency_ns: u64,
    /// Frames that wait to be sent, at most; from half of them on they are marked.
    pub queue: usize,
    /// Who sends to a queue that is three quarters full is asked to pause.
    pub pauses: bool,
}

impl Default for Wire {
    fn default() -> Wire {
        Wire { bandwidth: None, latency_ns: 0, queue: 512, pauses: false }
    }
}

/// Ports that are cut off from all others for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    pub ports: Vec<usize>,
    /// Nanoseconds after the first frame.
    pub from: u64,
    pub until: u64,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub faults: Faults,
    pub wire: Wire,
    pub partitions: Vec<Partition>,
}

/// Longest queue and latency that make sense.
const QUEUE_MAX: u64 = 1 << 16;
const LATENCY_MAX_US: u64 = 10_000_000;
const BANDWIDTH_MAX: u64 = 10_000_000;

impl Settings {
    /// Reads words with a comma between them; what is not named does not happen.
    ///
    /// # Errors
    /// What is wrong, for a person.
    pub fn parse(text: &str) -> Result<Settings, String> {
        let faults = Faults { seed: 1, ..Faults::default() };
        let mut settings = Settings { faults, ..Settings::default() };
        for word in text.split(',') {
            settings.read(word)?;
        }
        Ok(settings)
    }

    fn read(&mut self, word: &str) -> Result<(), String> {
        let (name, value) = word.split_once('=').ok_or_else(|| format!("'{word}' is not NAME=VALUE"))?;
        let chance = || {
            let chance = value.parse().ok().filter(|chance| (0.0..=1.0).contains(chance));
            chance.ok_or_else(|| format!("{name} is a chance from 0 to 1, not '{value}'"))
        };
        let number = |from: u64, to: u64| {
            let number = value.parse().ok().filter(|number| (from..=to).contains(number));
            number.ok_or_else(|| format!("{name} is a number from {from} to {to}, not '{value}'"))
        };
        match name {
            "loss" => self.faults.loss = chance()?,
            "duplicate" => self.faults.duplicate = chance()?,
            "reorder" => self.faults.reorder = chance()?,
            "corrupt" => self.faults.corrupt = chance()?,
            "seed" => self.faults.seed = number(0, u64::MAX)?,
            "bandwidth" => self.wire.bandwidth = Some(number(1, BANDWIDTH_MAX)?),
            "latency" => self.wire.latency_ns = number(0, LATENCY_MAX_US)? * 1000,
            "queue" => self.wire.queue = number(4, QUEUE_MAX)? as usize,
            "pause" => self.wire.pauses = number(0, 1)? == 1,
            "apart" => self.partitions.push(partition(value)?),
            _ => {
                return Err(format!(
                    "'{name}' is none of loss, duplicate, reorder, corrupt, seed, bandwidth, latency, queue, pause and apart"
                ));
            }
        }
        Ok(())
    }
}

/// Reads `2+3@500-1500`: ports, and milliseconds after the first frame; without an end it never heals.
fn partition(text: &str) -> Result<Partition, String> {
    let wrong = || format!("apart is PORT+PORT@FROM-UNTIL in milliseconds, as 2+3@500-1500, not '{text}'");
    let (ports, times) = text.split_once('@').ok_or_else(wrong)?;
    let (from, until) = times.split_once('-').ok_or_else(wrong)?;
    let ports: Option<Vec<usize>> = ports.split('+').map(|port| port.parse().ok()).collect();
    let time = |text: &str| text.parse::<u32>().ok().map(|ms| u64::from(ms) * 1_000_000);
    let from = time(from).ok_or_else(wrong)?;
    let until = if until.is_empty() { u64::MAX } else { time(until).ok_or_else(wrong)? };
    if from >= until {
        return Err(wrong());
    }
    Ok(Partition { ports: ports.ok_or_else(wrong)?, from, until })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_or_refused() {
        let read = Settings::parse("loss=0.1,seed=7,bandwidth=100,latency=50,queue=8,pause=1").unwrap();
        assert_eq!(read.faults, Faults { loss: 0.1, seed: 7, ..Faults::default() });
        let wire = Wire { bandwidth: Some(100), latency_ns: 50_000, queue: 8, pauses: true };
        assert_eq!(read.wire, wire);
        let read = Settings::parse("apart=0+2@5-10,apart=1@7-").unwrap().partitions;
        let first = Partition { ports: vec![0, 2], from: 5_000_000, until: 10_000_000 };
        assert_eq!(read, [first, Partition { ports: vec![1], from: 7_000_000, until: u64::MAX }]);
        for wrong in [
            "",
            "loss",
            "loss=2",
            "loss=-0.1",
            "seed=x",
            "delay=1",
            "loss=NaN",
            "queue=3",
            "bandwidth=0",
            "latency=99999999",
            "pause=2",
            "apart=1",
            "apart=1@2",
            "apart=x@1-2",
            "apart=1@2-1",
            "apart=@1-2",
        ] {
            assert!(Settings::parse(wrong).is_err(), "{wrong}");
        }
    }
}
