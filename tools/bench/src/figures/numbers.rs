//! The numbers of bars, as a table for the page: a row for each group, a column for each transport or part.

use std::fmt::Write;

use super::printed::short;
use crate::node::figures::Plot;
use crate::peers::page::escaped;

/// None of what is no bars.
pub fn table(plot: &Plot) -> Option<String> {
    let groups = plot.groups.as_ref()?;
    let mut text = format!(
        "<div class=\"wide\"><table><caption>{}: {}</caption>\n<tr><th></th>",
        escaped(&plot.title),
        escaped(&plot.y)
    );
    plot.lines.iter().for_each(|line| _ = write!(text, "<th>{}</th>", escaped(&line.name)));
    text.push_str("</tr>\n");
    for (name, place) in groups.names.iter().zip(1u32..) {
        let _ = write!(text, "<tr><th>{}</th>", escaped(name));
        for line in &plot.lines {
            let point = line.points.iter().find(|(at, _)| *at == f64::from(place));
            let _ = write!(text, "<td>{}</td>", point.map_or(String::new(), |(_, value)| short(*value)));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table></div>\n");
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::asked::of;
    use crate::node::figures::{Form, panel};

    #[test]
    fn a_group_is_a_row_and_what_it_lacks_is_empty() {
        let one = |part: &str, name: &str, value| {
            of("mpi-bench", "parts", part, 2, ("program", name.into()), (value, "%"))
        };
        let measured = [one("near", "a<b", 25.0), one("far", "a<b", 75.5), one("far", "c", 100.0)];
        let panel =
            crate::node::figures::Panel { form: Form::Stacked, ..panel('a', "Parts", &["parts"], "Share") };
        let text = table(&panel.plot(&measured).unwrap()).unwrap();
        assert!(text.contains("<tr><th>a&lt;b</th><td>25.0</td><td>75.5</td></tr>"), "{text}");
        assert!(text.contains("<tr><th>c</th><td></td><td>100</td></tr>"), "{text}");
    }
}
