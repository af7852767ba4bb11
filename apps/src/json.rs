//! `--json`: one document on standard output instead of columns.
//!
//! Own code, since programs only write, and only what they know: the field's serialiser is half of what a first build of the programs compiles.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use lwk_user::println;

/// What has a form in JSON (RFC 8259).
pub trait Json {
    /// Appends it to `text`.
    fn write(&self, text: &mut String);
}

/// Gives a struct the form of an object, with these members. One that is left out does not compile.
#[macro_export]
macro_rules! json_object {
    ($name:ident $(<$lifetime:lifetime>)? { $first:ident $(, $field:ident)* $(,)? }) => {
        impl $(<$lifetime>)? $crate::json::Json for $name $(<$lifetime>)? {
            fn write(&self, text: &mut ::alloc::string::String) {
                let Self { $first $(, $field)* } = self;
                text.push_str(concat!("{\"", stringify!($first), "\":"));
                $crate::json::Json::write($first, text);
                $(
                    text.push_str(concat!(",\"", stringify!($field), "\":"));
                    $crate::json::Json::write($field, text);
                )*
                text.push('}');
            }
        }
    };
}

/// Prints a value as one line of JSON.
pub fn print(value: &impl Json) {
    let mut text = String::new();
    value.write(&mut text);
    println!("{text}");
}

/// Appends what core's formatting makes of a value. A string takes all of it: there is no error.
fn append(text: &mut String, value: core::fmt::Arguments<'_>) {
    let _ = text.write_fmt(value);
}

macro_rules! as_displayed {
    ($($type:ty)*) => {$(
        impl Json for $type {
            fn write(&self, text: &mut String) {
                append(text, format_args!("{self}"));
            }
        }
    )*};
}
as_displayed!(bool u16 u32 u64 usize i32);

/// The shortest digits that read back the same; JSON has no word for what is no number, or infinite: null.
impl Json for f64 {
    fn write(&self, text: &mut String) {
        if self.is_finite() { append(text, format_args!("{self:?}")) } else { text.push_str("null") }
    }
}

impl Json for str {
    fn write(&self, text: &mut String) {
        text.push('"');
        for letter in self.chars() {
            match letter {
                '"' | '\\' => text.extend(['\\', letter]),
                control if control < ' ' => append(text, format_args!("\\u{:04x}", control as u32)),
                other => text.push(other),
            }
        }
        text.push('"');
    }
}

impl Json for String {
    fn write(&self, text: &mut String) {
        self.as_str().write(text);
    }
}

impl<T: Json + ?Sized> Json for &T {
    fn write(&self, text: &mut String) {
        (**self).write(text);
    }
}

/// Nothing is null.
impl<T: Json> Json for Option<T> {
    fn write(&self, text: &mut String) {
        match self {
            Some(value) => value.write(text),
            None => text.push_str("null"),
        }
    }
}

impl<T: Json> Json for [T] {
    fn write(&self, text: &mut String) {
        text.push('[');
        for (index, value) in self.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            value.write(text);
        }
        text.push(']');
    }
}

impl<T: Json, const N: usize> Json for [T; N] {
    fn write(&self, text: &mut String) {
        self.as_slice().write(text);
    }
}

impl<T: Json> Json for Vec<T> {
    fn write(&self, text: &mut String) {
        self.as_slice().write(text);
    }
}

/// Two values of different types are an array.
impl<A: Json, B: Json> Json for (A, B) {
    fn write(&self, text: &mut String) {
        text.push('[');
        self.0.write(text);
        text.push(',');
        self.1.write(text);
        text.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    struct Row<'a> {
        name: &'a str,
        figures: [f64; 3],
        pairs: Vec<(u64, u64)>,
        nothing: Option<u16>,
    }
    json_object!(Row<'a> { name, figures, pairs, nothing });

    #[test]
    fn an_object_is_one_line_of_json() {
        let row = Row {
            name: "a \"b\"\\\n",
            figures: [1.0, 1e-9, f64::NAN],
            pairs: vec![(1, 2), (3, 4)],
            nothing: None,
        };
        let mut text = String::new();
        row.write(&mut text);
        let right =
            r#"{"name":"a \"b\"\\\u000a","figures":[1.0,1e-9,null],"pairs":[[1,2],[3,4]],"nothing":null}"#;
        assert_eq!(text, right);
    }
}
