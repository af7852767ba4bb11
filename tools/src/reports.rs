//! What the user gets of the exit reports of a job that has ended: what `--report`, `--profile` and `--report-json` ask for.

use crate::cli::RunOptions;
use crate::failure::Outcome;
use crate::report::Report;
use crate::{image, profile};

/// Prints what the user has asked to see of the report, to standard error.
pub fn print(report: &Report, options: &RunOptions) {
    if options.report {
        crate::tell::error(format_args!("{}", report.table()));
    }
    if options.profile {
        crate::tell::error(format_args!("{}", profile::table(report)));
    }
}

/// The same of all nodes of a job, which has ended with this status: their reports one by one, each with a line behind it, one table of messages, and the file of reports. Errors: the file cannot
/// be written.
pub fn give(
    reports: &[Report],
    options: &RunOptions,
    status: i32,
    behind: impl Fn(usize) -> String,
) -> Outcome<()> {
    if let Some(file) = &options.report_json {
        let json = Report::json_of_nodes(reports, status);
        image::write_file(file, format!("{json:#}\n").as_bytes())?;
    }
    if options.report {
        for (node, report) in reports.iter().enumerate() {
            crate::tell::error(format_args!("node {node}\n{}{}", report.table(), behind(node)));
        }
    }
    if options.profile {
        crate::tell::error(format_args!("{}", profile::table(&Report::together(reports))));
    }
    Ok(())
}
