//! A job as the host has it; crate `lwk-job` writes the file of it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

pub use lwk_job::{Console as ConsoleForm, End as AtEnd, Wait};
use lwk_job::{Inject, LogLevel, Network, Writer};

/// A job as the node is told of it.
#[derive(Clone, Debug)]
pub struct Job {
    /// Ranks on the node, 1 to 255.
    pub ranks: u32,
    /// One rank on each core of the node, however many `ranks` are.
    pub on_each_core: bool,
    /// Bytes of memory for each rank; if none, they share what is free.
    pub memory: Option<u64>,
    /// Arguments of the program, `argv[0]` first. No argument holds a NUL byte: the operating system sees to that.
    pub arguments: Vec<OsString>,
    /// `NAME=VALUE` each.
    pub environment: Vec<OsString>,
    /// Level of kernel messages; the kernel's default if none.
    pub log: Option<LogLevel>,
    /// Ranks may share cores.
    pub oversubscribe: bool,
    /// The kernel prints the exit report.
    pub report: bool,
    /// Cores to use at most.
    pub cores: Option<u32>,
    /// Which cores ranks get ([`lwk_abi::job_file::BIND`]); the kernel's default if none.
    pub bind: Option<String>,
    /// How ranks wait for each other.
    pub wait: Wait,
    pub console: ConsoleForm,
    pub at_end: AtEnd,
    /// Bytes that files may take beside those the job is given; if none, a part of what is free.
    pub file_space: Option<u64>,
    /// Folder that the ranks start in, by its whole path on the node; the root, if none.
    pub folder: Option<Vec<u8>>,
    /// The host tool fetches the files at the end.
    pub out: bool,
    /// How the kernel is made to fail.
    pub inject: Option<Inject>,
    /// The node's place in a job of several.
    pub network: Option<Network>,
    /// Core that takes the network's interrupts; the kernel's choice if none.
    pub irq_core: Option<u32>,
    /// Cores without ranks that copy for the ranks.
    pub workers: u32,
    /// Seconds after which the kernel itself ends the job.
    pub limit: Option<u32>,
}

impl Job {
    /// The bytes of the job file; what is the kernel's default is left out.
    pub fn encode(&self) -> Vec<u8> {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, self.ranks, self.memory);
        writer.on_each_core(self.on_each_core);
        self.arguments.iter().for_each(|argument| writer.argument(argument.as_bytes()));
        self.environment.iter().for_each(|variable| writer.variable(variable.as_bytes()));
        self.log.into_iter().for_each(|level| writer.log(level));
        writer.oversubscribe(self.oversubscribe);
        writer.report(self.report);
        self.cores.into_iter().for_each(|cores| writer.cores(cores));
        self.bind.iter().for_each(|bind| writer.bind(bind.as_bytes()));
        writer.wait(self.wait);
        writer.console(self.console);
        writer.end(self.at_end);
        if let Some(bytes) = self.file_space {
            writer.file_space(bytes);
        }
        self.folder.iter().for_each(|folder| writer.folder(folder));
        writer.out(self.out);
        self.inject.into_iter().for_each(|how| writer.inject(how));
        self.network.iter().for_each(|place| writer.network(place));
        self.irq_core.into_iter().for_each(|core| writer.irq_core(core));
        writer.workers(self.workers);
        self.limit.into_iter().for_each(|seconds| writer.limit(seconds));
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        Job {
            ranks: 4,
            on_each_core: false,
            memory: Some(1 << 21),
            arguments: vec!["ring".into(), "a b=c\nd".into(), "".into()],
            environment: vec!["K=V=W".into()],
            log: None,
            oversubscribe: false,
            report: false,
            cores: None,
            bind: None,
            wait: Wait::Pause,
            console: ConsoleForm::Framed,
            at_end: AtEnd::Exit,
            file_space: None,
            folder: None,
            out: false,
            inject: None,
            network: None,
            irq_core: None,
            workers: 0,
            limit: None,
        }
    }

    #[test]
    fn defaults_are_left_out_and_arguments_are_carried_as_they_are() {
        let expected = b"ranks=4\0mem=2097152\0arg=ring\0arg=a b=c\nd\0arg=\0env=K=V=W\0";
        assert_eq!(job().encode(), expected);
    }

    #[test]
    fn every_option_has_its_record() {
        let all = Job {
            log: Some(LogLevel::Trace),
            oversubscribe: true,
            report: true,
            on_each_core: true,
            cores: Some(2),
            bind: Some("compact".into()),
            console: ConsoleForm::Plain,
            at_end: AtEnd::Wait,
            file_space: Some(4096),
            folder: Some(b"/a".to_vec()),
            out: true,
            workers: 2,
            limit: Some(90),
            ..job()
        };
        let file = String::from_utf8(all.encode()).unwrap();
        for record in [
            "log=trace",
            "oversubscribe=1",
            "report=1",
            "each_core=1",
            "cores=2",
            "bind=compact",
            "console=plain",
            "end=wait",
            "file_space=4096",
            "folder=/a",
            "out=1",
            "workers=2",
            "limit=90",
        ] {
            assert!(file.split('\0').any(|found| found == record), "{record} is not in {file:?}");
        }
    }
}
