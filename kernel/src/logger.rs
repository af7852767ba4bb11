//! Kernel messages: the `log` crate's macros, as console records.

use log::{Level, LevelFilter, Log, Metadata, Record};
use lwk_abi::console::KERNEL;
use lwk_job::LogLevel;

use crate::console;

struct ConsoleLog;

impl Log for ConsoleLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            console::record_text(KERNEL, level_number(record.level()), *record.args());
        }
    }

    fn flush(&self) {}
}

/// Levels by number, as `lwk_abi::console::KERNEL` says.
fn level_number(level: Level) -> usize {
    match level {
        Level::Error => 1,
        Level::Warn => 2,
        Level::Info => 3,
        Level::Debug => 4,
        Level::Trace => 5,
    }
}

/// Messages go to the console from now on, warnings and errors until [`set_level`].
pub fn init() {
    static LOGGER: ConsoleLog = ConsoleLog;
    if log::set_logger(&LOGGER).is_ok() {
        log::set_max_level(LevelFilter::Warn);
    }
}

/// Sets the least severe messages that are shown.
pub fn set_level(level: LogLevel) {
    log::set_max_level(match level {
        LogLevel::Error => LevelFilter::Error,
        LogLevel::Warn => LevelFilter::Warn,
        LogLevel::Info => LevelFilter::Info,
        LogLevel::Debug => LevelFilter::Debug,
        LogLevel::Trace => LevelFilter::Trace,
    });
}
