//! Progress of long steps: a spinner on a terminal, else one line for each step that takes noticeable time.
//!
//! Everything goes to standard error. Steps that are over at once, because nothing has changed, leave no trace, so the
//! output of a second run is the job's alone.

use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A step shorter than this is not mentioned where standard error is not a terminal.
const NOTICEABLE: Duration = Duration::from_secs(1);
/// How the line of a step begins and ends.
const LINE: [&str; 2] = ["lwk: ", " ..."];
/// Time between two pictures of the spinner.
const TICK: Duration = Duration::from_millis(120);

/// A step under way, shown on standard error; it ends when dropped.
pub struct Step {
    text: String,
    started: Instant,
    verbose: bool,
    shown: Shown,
}

enum Shown {
    Spinner(ProgressBar),
    /// Tells the thread that prints the line that the step is over.
    Line(Option<Sender<()>>, Option<JoinHandle<()>>),
}

impl Step {
    /// Begins the step `text`, for instance "building the kernel". `verbose`: print how long it took.
    pub fn begin(text: impl Into<String>, verbose: bool) -> Self {
        let text = text.into();
        let shown = if std::io::stderr().is_terminal() { spinner(&text) } else { line(&text) };
        Self { text, started: Instant::now(), verbose, shown }
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        match &mut self.shown {
            Shown::Spinner(bar) => bar.finish_and_clear(),
            Shown::Line(over, printer) => {
                drop(over.take());
                // The thread only waits and prints; if it has panicked, the step is over all the same.
                let _ = printer.take().map(JoinHandle::join);
            }
        }
        if self.verbose {
            tell!("lwk: {:6.3} s {}", self.started.elapsed().as_secs_f64(), self.text);
        }
    }
}

fn spinner(text: &str) -> Shown {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar.set_message(text.to_owned());
    bar.enable_steady_tick(TICK);
    Shown::Spinner(bar)
}

fn line(text: &str) -> Shown {
    let (over, waits) = mpsc::channel::<()>();
    let text = text.to_owned();
    let printer = std::thread::spawn(move || {
        if waits.recv_timeout(NOTICEABLE) == Err(RecvTimeoutError::Timeout) {
            let [begin, end] = LINE;
            tell!("{begin}{text}{end}");
        }
    });
    Shown::Line(Some(over), Some(printer))
}

/// What the command has printed to standard error without the lines of its steps: whether they are there depends on how fast this machine is.
pub fn without_steps(text: &str) -> String {
    let [begin, end] = LINE;
    let is_step = |line: &&str| line.starts_with(begin) && line.trim_end_matches('\n').ends_with(end);
    text.split_inclusive('\n').filter(|line| !is_step(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lines_of_steps_go() {
        let text = "lwk: making the disk image ...\none\nlwk: it failed: no room\nlwk: asking ...\nlwk:  0.5 s asking\nlast";
        assert_eq!(without_steps(text), "one\nlwk: it failed: no room\nlwk:  0.5 s asking\nlast");
        assert_eq!(without_steps(""), "");
    }
}
