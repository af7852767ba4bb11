//! `--json`: one document on standard output instead of columns.

use lwk_user::println;
use serde::Serialize;

/// Prints a value as one line of JSON.
///
/// Errors: a value that JSON has no words for (a map with keys that are not text); none of the programs' is one.
pub fn print(value: &impl Serialize) -> Result<(), serde_json::Error> {
    let text = serde_json::to_string(value)?;
    println!("{text}");
    Ok(())
}
