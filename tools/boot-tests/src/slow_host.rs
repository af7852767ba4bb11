//! A host that reads the serial line slowly: the node leaves only when its serial port has sent everything.

use std::ffi::OsString;
use std::os::unix::net::UnixStream;

use rustix::net::sockopt::set_socket_send_buffer_size;

use super::serial_line::{self, Reader};
use lwk::accel::Choice;
use lwk::build::Builder;
use lwk::emulator;
use lwk::failure::{Doing, Outcome};
use lwk::image;
use lwk::job::{AtEnd, ConsoleForm, Job};
use lwk::qemu::{Boot, Firmware, Machine, Node};
use lwk::run;
use lwk::subcommand::{Lwk, Program};

/// The socket between node and host holds only a few bytes, so that the serial port always has something left to send when
/// the node ends, in plain text so that what is missing can be read, and leaves QEMU.
pub fn loses_no_last_words(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let mut node = start(lwk, &folder).map_err(|failure| failure.message)?;
    let wanted = ["rank 0 line 000", "rank 0 line 099", "rank 1 line 099", "has ended with status 0.\r\n"];
    serial_line::hear(&mut node, Reader::Slow, &wanted)
}

/// A node with two ranks of `lines`.
fn start(lwk: &Lwk, folder: &lwk::tree::RunFolder) -> Outcome<Node> {
    let job = Job {
        ranks: 2,
        on_each_core: false,
        memory: Some(16 << 20),
        arguments: vec![OsString::from("lines")],
        environment: Vec::new(),
        log: None,
        oversubscribe: false,
        report: false,
        cores: None,
        bind: None,
        wait: lwk::job::Wait::Pause,
        console: ConsoleForm::Plain,
        at_end: AtEnd::Exit,
        file_space: None,
        folder: None,
        out: false,
        inject: None,
        network: None,
        irq_core: None,
        workers: 0,
        limit: None,
    };
    let builder = Builder::new(lwk.tree(), true, false)?;
    let program = image::read_program(&lwk.program(&Program::named("test:lines")))?;
    let (ram_disk, disk) = (folder.file("ramdisk.tar"), folder.file("disk.img"));
    image::write_file(&ram_disk, &image::ram_disk(&job, &program, None)?)?;
    let kernel = builder.kernel()?.stripped;
    image::write(&builder.image_builder(Firmware::Bios)?, &kernel, &ram_disk, &disk, &folder.file(""))?;
    let machine = Machine {
        boot: Boot::Disk(disk),
        firmware: None,
        cores: 2,
        memory_mib: 256,
        accelerator: Choice::Auto.settle(),
        cpu: None,
        more: Vec::new(),
        gdb: false,
        host_cores: run::host_cores(),
        card: None,
    };
    let pair = UnixStream::pair().doing(|| "make a pair of sockets".into())?;
    // The kernel makes it the smallest there is: a few bytes, each in a message of its own.
    set_socket_send_buffer_size(&pair.1, 1).doing(|| "make a socket small".into())?;
    Node::start_on(pair, &emulator::find_qemu(lwk.tree(), false)?, &machine, folder.file("qemu.log"))
}
