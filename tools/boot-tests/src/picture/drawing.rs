//! A layout as SVG: floors as bands, arrows below boxes.

use std::fmt::Write;

use super::layout::{BOX_HEIGHT, Layout};

const HEAD: &str = "font-family=\"monospace\" font-size=\"12\"";
/// Of every other floor, of boxes, and of arrows.
const BAND: &str = "#f3f5f8";
const FILL: &str = "#ffffff";
const EDGE: &str = "#37506b";
const ARROW: &str = "#8fa3b8";
/// Of letters above the bottom of their box.
const BASELINE: f64 = 8.0;

/// The picture; floors by their names.
pub fn svg(layout: &Layout, floors: &[&str]) -> String {
    let (width, height) = (layout.width, layout.height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" {HEAD}>\n\
         <desc>Made by `cargo lwk doc --picture`.</desc>\n\
         <defs><marker id=\"head\" markerWidth=\"7\" markerHeight=\"6\" refX=\"6\" refY=\"3\" orient=\"auto\"><path d=\"M0 0L7 3L0 6z\" fill=\"{ARROW}\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{FILL}\"/>\n"
    );
    for (index, ((top, height), name)) in layout.floors.iter().zip(floors).enumerate() {
        if index % 2 == 0 {
            add(
                &mut text,
                format_args!(
                    "<rect x=\"0\" y=\"{top:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" fill=\"{BAND}\"/>"
                ),
            );
        }
        let middle = top + height / 2.0 + 4.0;
        add(&mut text, format_args!("<text x=\"8\" y=\"{middle:.0}\" fill=\"{EDGE}\">{name}</text>"));
    }
    for (from, to) in &layout.arrows {
        let (from, to) = (&layout.boxes[*from], &layout.boxes[*to]);
        let (x1, y1) = (from.x + from.width / 2.0, from.y + BOX_HEIGHT);
        let (x2, y2) = (to.x + to.width / 2.0, to.y);
        let bend = (y2 - y1) / 2.0;
        add(
            &mut text,
            format_args!(
                "<path d=\"M{x1:.0} {y1:.0}C{x1:.0} {:.0} {x2:.0} {:.0} {x2:.0} {y2:.0}\" fill=\"none\" stroke=\"{ARROW}\" marker-end=\"url(#head)\"/>",
                y1 + bend,
                y2 - bend
            ),
        );
    }
    for it in &layout.boxes {
        let (x, y, width) = (it.x, it.y, it.width);
        let (middle, baseline) = (x + width / 2.0, y + BOX_HEIGHT - BASELINE);
        add(
            &mut text,
            format_args!(
                "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{width:.0}\" height=\"{BOX_HEIGHT:.0}\" rx=\"4\" fill=\"{FILL}\" stroke=\"{EDGE}\"/>\
                 <text x=\"{middle:.0}\" y=\"{baseline:.0}\" text-anchor=\"middle\">{}</text>",
                it.name
            ),
        );
    }
    text.push_str("</svg>\n");
    text
}

fn add(text: &mut String, line: std::fmt::Arguments<'_>) {
    // A string takes all of it: there is no error.
    let _ = writeln!(text, "{line}");
}
