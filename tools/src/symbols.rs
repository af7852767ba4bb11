//! Addresses of a back trace as functions, files and lines, inlined calls included.
//!
//! The file is read at the first address only: most jobs end well. A file without symbols is no error; its addresses
//! are printed bare.

use std::path::{Path, PathBuf};

use addr2line::Loader;
use lwk_abi::address::{PAGE_BYTES, SLOT_BYTES, USER_END};

/// A function's name, and file and line in it, as far as they are known.
type Found<'a> = (Option<String>, Option<(&'a str, u32)>);

/// The symbols and debug information of one file, read when they are first needed.
pub struct Symbols {
    file: Option<PathBuf>,
    loader: Option<Loader>,
    /// Whether the file is a program's, which a home may have placed elsewhere than the file says.
    is_program: bool,
    /// What has then been added to its addresses, modulo 2^64; known with the loader.
    bias: u64,
    /// Removed from the front of source paths.
    root: PathBuf,
}

impl Symbols {
    /// Symbols of the ELF file `file`; sources below `root` are shown relative to it.
    pub fn of(file: &Path, root: &Path) -> Self {
        Self { file: Some(file.to_path_buf()), root: root.to_path_buf(), ..Self::none() }
    }

    /// As [`Symbols::of`] for a program, at the address that it is loaded at.
    pub fn of_program(file: &Path, root: &Path) -> Self {
        Self { is_program: true, ..Self::of(file, root) }
    }

    /// No symbols: every address is described by itself.
    pub fn none() -> Self {
        Self { file: None, loader: None, is_program: false, bias: 0, root: PathBuf::new() }
    }

    /// One line for each function at `address`, innermost first; at least one.
    ///
    /// All frames of a back trace but the innermost are return addresses: the call is the instruction before. A rank's
    /// own code can be named through any slot, so the slot is taken off user addresses.
    pub fn describe(&mut self, address: u64, innermost: bool) -> Vec<String> {
        let in_slot = if address < USER_END { address % SLOT_BYTES } else { address };
        let probe = if innermost { in_slot } else { in_slot.saturating_sub(1) };
        // Linkers leave the debug information of functions they dropped at address 0: nothing real is there.
        let lines = if probe < PAGE_BYTES { Vec::new() } else { self.look_up(probe) };
        if lines.is_empty() { vec!["?".into()] } else { lines }
    }

    fn look_up(&mut self, probe: u64) -> Vec<String> {
        if let Some(file) = self.file.take() {
            if self.is_program {
                self.bias = bias_of(&file);
            }
            self.loader = Loader::new(file).ok();
        }
        let probe = probe.wrapping_sub(self.bias);
        let Some(loader) = &self.loader else { return Vec::new() };
        let mut found: Vec<Found<'_>> = Vec::new();
        if let Ok(mut frames) = loader.find_frames(probe) {
            while let Ok(Some(frame)) = frames.next() {
                let function = frame.function.as_ref().and_then(|name| name.raw_name().ok());
                let place = frame.location.and_then(|place| Some((place.file?, place.line.unwrap_or(0))));
                found.push((function.map(|name| demangled(&name)), place));
            }
        }
        // Line tables know functions by their last name only; the symbol table knows the outermost one in full.
        let symbol = loader.find_symbol(probe).map(demangled);
        if symbol.is_some() || found.is_empty() {
            let place = found.pop().and_then(|(_, place)| place);
            found.push((symbol, place));
        }
        let line = |(function, place): Found<'_>| match (function, place) {
            (function, Some((file, line))) => {
                Some(format!("{} at {}:{line}", function.as_deref().unwrap_or("?"), self.shown(file)))
            }
            (function, None) => function,
        };
        found.into_iter().filter_map(line).collect()
    }

    /// A source path as the reader wants it: relative to the tree, or to the standard library's source.
    fn shown<'p>(&self, file: &'p str) -> &'p str {
        let path = Path::new(file);
        if let Ok(relative) = path.strip_prefix(&self.root) {
            return relative.to_str().unwrap_or(file);
        }
        match file.rsplit_once("/library/") {
            Some((_, rest)) => rest,
            None => file,
        }
    }
}

/// What is added to the addresses of the program `file` when it is loaded; 0 for one that could not be.
pub fn bias_of(file: &Path) -> u64 {
    let content = std::fs::read(file).unwrap_or_default();
    lwk_elf::parse(&content).map_or(0, |program| program.bias)
}

fn demangled(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_very_function_is_found_with_file_and_line() {
        let file = std::env::current_exe().unwrap();
        // A test binary is position independent: its symbols count from the start of its mapping.
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let name = file.to_str().unwrap();
        let first = maps.lines().find(|line| line.ends_with(name)).unwrap();
        let base = u64::from_str_radix(first.split('-').next().unwrap(), 16).unwrap();
        let here = this_very_function_is_found_with_file_and_line as fn() as usize as u64;
        let mut symbols = Symbols::of(&file, Path::new("/"));
        let lines = symbols.describe(here - base, true);
        assert!(lines.iter().any(|line| line.contains("this_very_function")), "{lines:?}");
    }

    #[test]
    fn an_unknown_address_and_a_missing_file_are_no_errors() {
        assert_eq!(Symbols::none().describe(0x1234, true), ["?"]);
        assert_eq!(Symbols::of(Path::new("/nonexistent"), Path::new("/")).describe(0, false), ["?"]);
    }
}
