//! The environment variables of the standard (section 8): `SHMEM_SYMMETRIC_SIZE`, `SHMEM_VERSION`, `SHMEM_INFO`, `SHMEM_DEBUG`,
//! each also under its old prefix `SMA_`.

use alloc::format;
use alloc::string::String;
use core::fmt;
use lwk_path::setting::{self, Bad, Setting};

/// What the environment asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Bytes of the symmetric heap; the library's choice if absent.
    pub symmetric_bytes: Option<usize>,
    /// Print the library's version.
    pub version: bool,
    /// Print the variables.
    pub info: bool,
    /// Print what set-up has found.
    pub debug: bool,
    /// For tests: half of the PEs count as another node's.
    pub wall: bool,
}

/// A variable whose value makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSetting(String);

impl fmt::Display for BadSetting {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for BadSetting {}

impl Settings {
    /// Reads the environment by a function that finds a variable; the old names, which begin with `SMA`, count where the new ones are not
    /// set. Errors: the symmetric size is not a number of bytes above 0 and below 2^48; there is no such transport.
    pub fn from_environment<'a>(find: impl Fn(&str) -> Option<&'a str>) -> Result<Settings, BadSetting> {
        let variable = |name: &str| {
            let named = |prefix: &str| {
                let name = format!("{prefix}_{name}");
                find(&name).map(|value| (name, value))
            };
            named("SHMEM").or_else(|| named("SMA"))
        };
        let symmetric_bytes = match variable("SYMMETRIC_SIZE") {
            None => None,
            Some((name, value)) => {
                let bytes = size(value).ok_or_else(|| {
                    BadSetting(format!("{name}={value}: give a positive number of bytes, with k, m, g or t after it if you like, as in 3.5m"))
                })?;
                Some(bytes)
            }
        };
        Ok(Settings {
            symmetric_bytes,
            version: variable("VERSION").is_some(),
            info: variable("INFO").is_some(),
            debug: variable("DEBUG").is_some(),
            wall: setting::named(&find).map_err(|Bad(line)| BadSetting(line))? == Setting::Halves,
        })
    }
}

/// A positive decimal number, whole or not, with an optional scaling factor; rounded up.
fn size(text: &str) -> Option<usize> {
    let text = text.trim();
    let (number, shift) = match text.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => (&text[..text.len() - 1], 10),
        b'm' => (&text[..text.len() - 1], 20),
        b'g' => (&text[..text.len() - 1], 30),
        b't' => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    if !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let number: f64 = number.parse().ok()?;
    let bytes = number * (1u64 << shift) as f64;
    if !(bytes > 0.0 && bytes < (1u64 << 48) as f64) {
        return None;
    }
    let whole = bytes as usize;
    Some(if (whole as f64) < bytes { whole + 1 } else { whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heap(name: &str, value: &'static str) -> Result<Option<usize>, BadSetting> {
        Settings::from_environment(|wanted| (wanted == name).then_some(value)).map(|s| s.symmetric_bytes)
    }

    #[test]
    fn sizes_read_as_the_standard_says() {
        // The standard's own examples, then edges.
        for (text, bytes) in
            [("20m", 20_971_520), ("3.1m", 3_250_586), ("4096", 4096), ("1K", 1024), ("0.5", 1)]
        {
            assert_eq!(heap("SHMEM_SYMMETRIC_SIZE", text), Ok(Some(bytes)), "{text}");
        }
        assert_eq!(heap("SMA_SYMMETRIC_SIZE", "1g"), Ok(Some(1 << 30)));
        assert_eq!(heap("OTHER", "1g"), Ok(None));
    }

    #[test]
    fn what_is_no_size_is_told_with_its_name() {
        for text in ["", "k", "20kk", "-1", "0", "1x", "1e3", "nan", "inf", "999999t", "1.2.3"] {
            let error = heap("SHMEM_SYMMETRIC_SIZE", text).unwrap_err();
            assert!(error.to_string().starts_with(&format!("SHMEM_SYMMETRIC_SIZE={text}: ")), "{error}");
        }
    }
}
