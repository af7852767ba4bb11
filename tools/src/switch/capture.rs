//! What goes through a switch, as a pcapng file for Wireshark: an interface for each port, each frame as it comes in and as it goes out.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};

use crate::failure::{Doing, Failure, Outcome};

/// Times are nanoseconds: ten to the minus ninth of a second.
const NANOSECONDS: u8 = 9;

/// Seen from the switch; the numbers are pcapng's (`epb_flags`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    In = 1,
    Out = 2,
}

/// A file that is being written.
pub struct Capture {
    writer: PcapNgWriter<BufWriter<File>>,
    interfaces: usize,
    /// Why no more is written.
    failed: Option<PcapError>,
    /// When the switch started, since 1970.
    began: Duration,
}

impl Capture {
    /// Begins a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn to(path: &Path, began: Duration) -> Outcome<Capture> {
        let what = || format!("write {}", path.display());
        let writer = PcapNgWriter::new(BufWriter::new(File::create(path).doing(what)?));
        let writer = writer.map_err(|error| Failure::host(format!("cannot {}: {error}", what())))?;
        Ok(Capture { writer, interfaces: 0, failed: None, began })
    }

    fn note(&mut self, written: Result<usize, PcapError>) {
        if let Err(error) = written {
            self.failed = Some(error);
        }
    }

    /// Takes a frame of a port, so many nanoseconds after the switch's start.
    pub fn frame(&mut self, now: u64, port: usize, direction: Direction, frame: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        while self.interfaces <= port {
            let options = vec![
                InterfaceDescriptionOption::IfName(Cow::Owned(format!("port{}", self.interfaces))),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ];
            let interface = InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen: 0, options };
            let written = self.writer.write_pcapng_block(interface);
            self.note(written);
            self.interfaces += 1;
        }
        let block = EnhancedPacketBlock {
            interface_id: port as u32,
            timestamp: self.began + Duration::from_nanos(now),
            original_len: frame.len() as u32,
            data: Cow::Borrowed(frame),
            options: vec![EnhancedPacketOption::Flags(direction as u32)],
        };
        let written = self.writer.write_pcapng_block(block);
        self.note(written);
    }

    /// Ends the file; why it is not whole, if it is not.
    pub fn end(mut self) -> Option<String> {
        let flushed = self.writer.get_mut().flush();
        let failed = self.failed.map(|error| error.to_string());
        failed.or_else(|| flushed.err().map(|error| error.to_string()))
    }
}
