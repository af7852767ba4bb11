//! The job file ([`lwk_abi::job_file`]) as the host writes it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use lwk_abi::job_file as key;

/// What the node does when the job has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// Leaves QEMU.
    Exit,
    /// Waits for a byte on the serial line, then leaves QEMU.
    Wait,
    /// Stops its cores: real machines.
    Halt,
}

/// The console's form on the serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleForm {
    /// Records for the host tool.
    Framed,
    /// Text for a person.
    Plain,
}

/// A job as the node is told of it.
#[derive(Clone, Debug)]
pub struct Job {
    /// Ranks on the node, 1 to 255.
    pub ranks: u32,
    /// Bytes of memory for each rank.
    pub memory: u64,
    /// Arguments of the program, `argv[0]` first. No argument holds a NUL byte: the operating system sees to that.
    pub arguments: Vec<OsString>,
    /// `NAME=VALUE` each.
    pub environment: Vec<OsString>,
    /// Level of kernel messages; the kernel's default if none.
    pub log: Option<&'static str>,
    /// Ranks may share cores.
    pub oversubscribe: bool,
    /// The kernel prints the exit report.
    pub report: bool,
    /// Cores to use at most.
    pub cores: Option<u32>,
    /// Which cores ranks get ([`key::BIND`]); the kernel's default if none.
    pub bind: Option<String>,
    pub console: ConsoleForm,
    pub at_end: AtEnd,
    /// Bytes that files may take beside those the job is given.
    pub file_space: u64,
    /// Folder that the ranks start in, by its whole path on the node; the root, if none.
    pub folder: Option<Vec<u8>>,
    /// The host tool fetches the files at the end.
    pub out: bool,
    /// How the kernel is made to fail.
    pub inject: Option<String>,
    /// The node's place in a job of several.
    pub network: Option<lwk_job::Network>,
    /// Core that takes the network's interrupts; the kernel's choice if none.
    pub irq_core: Option<u32>,
}

impl Job {
    /// The bytes of the job file; what is the kernel's default is left out.
    pub fn encode(&self) -> Vec<u8> {
        let mut file = Vec::new();
        let mut put = |key: &str, value: &[u8]| {
            file.extend_from_slice(key.as_bytes());
            file.push(b'=');
            file.extend_from_slice(value);
            file.push(0);
        };
        put(key::RANKS, self.ranks.to_string().as_bytes());
        put(key::MEMORY, self.memory.to_string().as_bytes());
        for argument in &self.arguments {
            put(key::ARGUMENT, argument.as_bytes());
        }
        for variable in &self.environment {
            put(key::ENVIRONMENT, variable.as_bytes());
        }
        if let Some(level) = self.log {
            put(key::LOG, level.as_bytes());
        }
        if self.oversubscribe {
            put(key::OVERSUBSCRIBE, b"1");
        }
        if self.report {
            put(key::REPORT, b"1");
        }
        if let Some(cores) = self.cores {
            put(key::CORES, cores.to_string().as_bytes());
        }
        if let Some(bind) = &self.bind {
            put(key::BIND, bind.as_bytes());
        }
        if self.console == ConsoleForm::Plain {
            put(key::CONSOLE, b"plain");
        }
        match self.at_end {
            AtEnd::Exit => {}
            AtEnd::Wait => put(key::END, b"wait"),
            AtEnd::Halt => put(key::END, b"halt"),
        }
        if self.file_space != key::FILE_SPACE_DEFAULT {
            put(key::FILE_SPACE, self.file_space.to_string().as_bytes());
        }
        if let Some(folder) = &self.folder {
            put(key::FOLDER, folder);
        }
        if self.out {
            put(key::OUT, b"1");
        }
        if let Some(kind) = &self.inject {
            put(key::INJECT, kind.as_bytes());
        }
        if let Some(lwk_job::Network { node, nodes, size, job }) = &self.network {
            put(key::NETWORK, format!("{node},{nodes},{size},{job}").as_bytes());
        }
        if let Some(core) = self.irq_core {
            put(key::IRQ_CORE, core.to_string().as_bytes());
        }
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        Job {
            ranks: 4,
            memory: 1 << 21,
            arguments: vec!["ring".into(), "a b=c\nd".into(), "".into()],
            environment: vec!["K=V=W".into()],
            log: None,
            oversubscribe: false,
            report: false,
            cores: None,
            bind: None,
            console: ConsoleForm::Framed,
            at_end: AtEnd::Exit,
            file_space: key::FILE_SPACE_DEFAULT,
            folder: None,
            out: false,
            inject: None,
            network: None,
            irq_core: None,
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
            log: Some("trace"),
            oversubscribe: true,
            report: true,
            cores: Some(2),
            bind: Some("compact".into()),
            console: ConsoleForm::Plain,
            at_end: AtEnd::Wait,
            file_space: 4096,
            folder: Some(b"/a".to_vec()),
            out: true,
            network: Some(lwk_job::Network { node: 1, nodes: 2, size: 8, job: 9 }),
            irq_core: Some(3),
            ..job()
        };
        let file = String::from_utf8(all.encode()).unwrap();
        for record in [
            "log=trace",
            "oversubscribe=1",
            "report=1",
            "cores=2",
            "bind=compact",
            "console=plain",
            "end=wait",
            "file_space=4096",
            "folder=/a",
            "out=1",
            "network=1,2,8,9",
            "irq_core=3",
        ] {
            assert!(file.split('\0').any(|found| found == record), "{record} is not in {file:?}");
        }
    }
}
