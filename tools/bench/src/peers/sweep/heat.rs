//! The heat map: ratios of all points, an operation a row, a size a column; red where a peer is faster, blue where Margay is, told apart by all readers and
//! with the number in it.

use std::fmt::Write;

use super::curves::{Curve, Section};

/// A table for the page.
pub fn map(section: &Section) -> String {
    let sizes = section.sizes();
    let mut text = String::from("<table class=\"heat\">\n<tr><th></th>");
    for size in &sizes {
        let _ = write!(text, "<th>{}</th>", short(*size));
    }
    text.push_str("</tr>\n");
    section.curves.iter().for_each(|curve| row(&mut text, curve, &sizes));
    text.push_str("</table>\n");
    text
}

fn row(text: &mut String, curve: &Curve, sizes: &[u64]) {
    let _ = write!(text, "<tr><th>{}</th>", curve.operation);
    for size in sizes {
        let point = curve.points.iter().find(|point| point.bytes == *size);
        match point.and_then(|point| point.ratio()) {
            Some(ratio) => {
                let (back, front) = colours(ratio);
                let digits = if ratio >= 9.95 { 0 } else { 1 + usize::from(ratio < 0.95) };
                let _ = write!(text, "<td style=\"background:{back};color:{front}\">{ratio:.digits$}</td>");
            }
            None => text.push_str("<td></td>"),
        }
    }
    text.push_str("</tr>\n");
}

/// Background and text of a ratio: the further from 1, the stronger.
fn colours(ratio: f64) -> (String, &'static str) {
    // A factor of 8 is the strongest colour.
    let strength = (ratio.ln().abs() / 8f64.ln()).min(1.0);
    let (red, green, blue) = if ratio < 1.0 { (178, 24, 43) } else { (33, 102, 172) };
    let mixed = |full: i32| (255.0 + f64::from(full - 255) * strength) as u8;
    let front = if strength > 0.55 { "#fff" } else { "#1a1a1a" };
    (format!("rgb({},{},{})", mixed(red), mixed(green), mixed(blue)), front)
}

/// `64`, `4K`, `1M`.
fn short(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= 1 << 20 => format!("{}M", bytes >> 20),
        bytes if bytes >= 1 << 10 => format!("{}K", bytes >> 10),
        bytes => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_tell_faster_from_slower() {
        assert_eq!(colours(1.0).0, "rgb(255,255,255)");
        assert_eq!(colours(8.0), ("rgb(33,102,172)".into(), "#fff"));
        assert_eq!(colours(0.01), ("rgb(178,24,43)".into(), "#fff"));
        assert_eq!([short(8), short(2048), short(4 << 20)], ["8", "2K", "4M"]);
    }
}
