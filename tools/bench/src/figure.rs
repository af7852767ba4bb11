//! A figure beside its target, and the head of a page of them.

use serde_json::{Value, json};

use crate::peers::page::escaped;

/// A figure and what it should be.
pub struct Figure {
    pub what: String,
    pub value: f64,
    target: f64,
    at_most: bool,
    /// It is a matter of time, which cores that are shared by ranks and interrupts have too little of.
    of_time: bool,
}

impl Figure {
    pub fn at_most(what: &str, value: f64, target: f64) -> Figure {
        Figure { what: what.into(), value, target, at_most: true, of_time: false }
    }

    pub fn at_least(what: &str, value: f64, target: f64) -> Figure {
        Figure { what: what.into(), value, target, at_most: false, of_time: false }
    }

    pub fn of_time(self) -> Figure {
        Figure { of_time: true, ..self }
    }

    /// Never of what is not a number: nothing measured is nothing met.
    pub fn is_met(&self) -> bool {
        if self.at_most { self.value <= self.target } else { self.value >= self.target }
    }

    fn target(&self) -> String {
        format!("{} {}", if self.at_most { "<=" } else { ">=" }, self.target)
    }

    fn verdict(&self, short_of_cores: bool) -> &'static str {
        match self.is_met() {
            true => "met",
            false if self.of_time && short_of_cores => "missed, short of cores",
            false => "MISSED",
        }
    }

    /// A line of a table.
    pub fn line(&self, short_of_cores: bool) -> String {
        let verdict = self.verdict(short_of_cores);
        format!("{:<62}{:>10.3}  {:<9}{verdict}", self.what, self.value, self.target())
    }

    pub fn json(&self) -> Value {
        json!({ "what": self.what, "value": self.value, "target": self.target, "met": self.is_met() })
    }

    /// A row of a page's table.
    pub fn row(&self) -> String {
        format!(
            "<tr{}><th>{}</th><td>{:.3}</td><td>{}</td><td>{}</td></tr>\n",
            if self.is_met() { "" } else { " class=\"missed\"" },
            escaped(&self.what),
            self.value,
            escaped(&self.target()),
            self.verdict(false),
        )
    }
}

/// The head of a page that needs no network, up to its title.
pub fn head(title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n\
         body {{ font: 15px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 70rem; margin: 0 auto; padding: 1rem; }}\n\
         h1 {{ font-size: 1.5rem; }} h2 {{ font-size: 1.15rem; margin-top: 2rem; }}\n\
         .wide {{ overflow-x: auto; }} svg {{ width: 100%; height: auto; min-width: 40rem; max-width: 56rem; display: block; }}\n\
         table {{ border-collapse: collapse; font-size: .85rem; margin: .5rem 0 1rem; }} caption {{ text-align: left; font-weight: 600; }}\n\
         th, td {{ padding: .15rem .6rem; text-align: right; border-bottom: 1px solid #ddd; }} th {{ font-weight: 400; }} th:first-child {{ text-align: left; }}\n\
         tr.missed {{ color: #b00020; }}\n\
         </style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_misses_its_target_says_so_everywhere() {
        let (met, missed) = (Figure::at_most("a < b", 1.1, 1.15), Figure::at_most("a < b", 1.2, 1.15));
        assert!(met.is_met() && met.line(false).ends_with("1.100  <= 1.15  met"), "{}", met.line(false));
        assert!(!missed.is_met() && missed.line(false).ends_with("MISSED"), "{}", missed.line(false));
        assert_eq!(
            missed.row(),
            "<tr class=\"missed\"><th>a &lt; b</th><td>1.200</td><td>&lt;= 1.15</td><td>MISSED</td></tr>\n"
        );
        assert_eq!((met.json()["met"].as_bool(), missed.json()["met"].as_bool()), (Some(true), Some(false)));
        assert!(!Figure::at_most("nothing", f64::NAN, 1.0).is_met());
        assert!(!Figure::at_least("nothing", f64::NAN, 1.0).is_met());
        let late = Figure::at_least("time", 0.5, 0.9).of_time();
        assert!(late.line(true).ends_with("missed, short of cores"));
    }
}
