//! Lists that are broken into lines.

/// Most letters of a line.
const WIDTH: usize = 110;

/// The parts with commas between them; further lines begin with `indent`, and a line that goes on ends with `on`.
pub fn broken(parts: &[String], on: &str, indent: &str) -> String {
    let mut text = String::new();
    let mut length = 0;
    for (place, part) in parts.iter().enumerate() {
        let comma = if place + 1 < parts.len() { "," } else { "" };
        let needed = part.len() + comma.len() + on.len();
        if length > 0 && length + 1 + needed > WIDTH {
            text += on;
            text += "\n";
            text += indent;
            length = indent.len();
        } else if length > 0 {
            text += " ";
            length += 1;
        }
        text += part;
        text += comma;
        length += part.len() + comma.len();
    }
    text
}

/// A line of Fortran: `head` with a list in parentheses.
pub fn called(head: &str, mut list: Vec<String>) -> String {
    if list.is_empty() {
        return format!("{head}()");
    }
    list[0].insert_str(0, &format!("{head}("));
    broken(&list, " &", "        ") + ")"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_before_it_is_too_long() {
        let parts = vec!["x".repeat(60), "y".repeat(50), "z".into()];
        assert_eq!(broken(&parts, "", "  "), format!("{},\n  {}, z", parts[0], parts[1]));
        assert_eq!(broken(&parts, " &", ""), format!("{}, &\n{}, z", parts[0], parts[1]));
        assert_eq!(broken(&parts[2..], "", ""), "z");
    }
}
