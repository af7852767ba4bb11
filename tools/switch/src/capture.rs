//! What goes through a switch, as a pcapng file for Wireshark: an interface for each port, each frame as it comes in and as it goes out.
//!
//! Three kinds of blocks (draft-ietf-opsawg-pcapng, section 4), little-endian. A unit test reads them with the crate `pcap-file`, which writes them as
//! well, but brings more code into a first build of the command than all that is needed of it here.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

/// Times are nanoseconds: ten to the minus ninth of a second.
const NANOSECONDS: u8 = 9;
/// Link type of Ethernet.
const ETHERNET: u16 = 1;

/// Types of blocks.
const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// In a section header: tells the byte order.
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
/// The format's version, 1.0: major, then minor.
const VERSION: [u16; 2] = [1, 0];
/// Of a section that has no length yet.
const UNKNOWN_LENGTH: u64 = u64::MAX;

/// Options: of an interface its name and its clock, of a packet its direction; and their end.
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
const END_OF_OPTIONS: u16 = 0;

/// Seen from the switch; the numbers are pcapng's (`epb_flags`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    In = 1,
    Out = 2,
}

/// A file that is being written.
pub struct Capture {
    file: BufWriter<File>,
    interfaces: usize,
    /// Why no more is written.
    failed: Option<io::Error>,
    /// When the switch started, since 1970.
    began: Duration,
}

impl Capture {
    /// Begins a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn to(path: &Path, began: Duration) -> io::Result<Capture> {
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(&section_header())?;
        Ok(Capture { file, interfaces: 0, failed: None, began })
    }

    fn write(&mut self, block: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.file.write_all(block).err();
        }
    }

    /// Takes a frame of a port, so many nanoseconds after the switch's start.
    pub fn frame(&mut self, now: u64, port: usize, direction: Direction, frame: &[u8]) {
        while self.interfaces <= port {
            self.write(&interface(self.interfaces));
            self.interfaces += 1;
        }
        let time = (self.began + Duration::from_nanos(now)).as_nanos() as u64;
        self.write(&packet(time, port as u32, direction, frame));
    }

    /// Ends the file; why it is not whole, if it is not.
    pub fn end(mut self) -> Option<String> {
        let flushed = self.file.flush().err();
        self.failed.or(flushed).map(|error| error.to_string())
    }
}

/// A section, which is the whole file.
fn section_header() -> Vec<u8> {
    let mut body = BYTE_ORDER.to_le_bytes().to_vec();
    VERSION.iter().for_each(|part| body.extend(part.to_le_bytes()));
    body.extend(UNKNOWN_LENGTH.to_le_bytes());
    block(SECTION_HEADER, body)
}

/// The interface of a port; frames of it are kept whole.
fn interface(port: usize) -> Vec<u8> {
    let most_kept = 0u32;
    let mut body = [ETHERNET.to_le_bytes(), [0; 2]].concat();
    body.extend(most_kept.to_le_bytes());
    option(&mut body, IF_NAME, format!("port{port}").as_bytes());
    option(&mut body, IF_TSRESOL, &[NANOSECONDS]);
    option(&mut body, END_OF_OPTIONS, &[]);
    block(INTERFACE_DESCRIPTION, body)
}

/// A frame, so many nanoseconds after 1970.
fn packet(time: u64, port: u32, direction: Direction, frame: &[u8]) -> Vec<u8> {
    let bytes = frame.len() as u32;
    let mut body = Vec::with_capacity(frame.len() + 64);
    for word in [port, (time >> 32) as u32, time as u32, bytes, bytes] {
        body.extend(word.to_le_bytes());
    }
    body.extend(frame);
    pad(&mut body);
    option(&mut body, EPB_FLAGS, &(direction as u32).to_le_bytes());
    option(&mut body, END_OF_OPTIONS, &[]);
    block(ENHANCED_PACKET, body)
}

/// A block: its type, its length before and after the body.
fn block(kind: u32, body: Vec<u8>) -> Vec<u8> {
    let bytes = (body.len() as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &bytes, &body, &bytes].concat()
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

/// Everything begins at a whole word of four bytes.
fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
    use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
    use pcap_file::pcapng::{Block, PcapNgReader};

    #[test]
    fn the_fields_reader_finds_each_frame_with_its_port_time_and_direction() {
        let mut file = section_header();
        file.extend(interface(0));
        file.extend(interface(1));
        let frames: [(u64, u32, Direction, &[u8]); 3] = [
            (7, 0, Direction::In, &[1; 60]),
            (1 << 40, 1, Direction::Out, &[2; 61]),
            (9, 1, Direction::In, &[]),
        ];
        for (time, port, direction, frame) in frames {
            file.extend(packet(time, port, direction, frame));
        }
        let mut reader = PcapNgReader::new(&file[..]).unwrap();
        let (mut names, mut seen) = (Vec::new(), Vec::new());
        while let Some(next) = reader.next_block() {
            match next.unwrap() {
                Block::InterfaceDescription(interface) => {
                    assert_eq!(u32::from(interface.linktype), u32::from(ETHERNET));
                    assert!(interface.options.contains(&InterfaceDescriptionOption::IfTsResol(NANOSECONDS)));
                    let name = interface.options.iter().find_map(|option| match option {
                        InterfaceDescriptionOption::IfName(name) => Some(name.to_string()),
                        _ => None,
                    });
                    names.push(name.unwrap());
                }
                Block::EnhancedPacket(packet) => {
                    assert_eq!(packet.original_len as usize, packet.data.len());
                    let [EnhancedPacketOption::Flags(direction)] = packet.options[..] else {
                        panic!("{:?}", packet.options)
                    };
                    let time = packet.timestamp.as_nanos() as u64;
                    seen.push((time, packet.interface_id, direction, packet.data.to_vec()));
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(names, ["port0", "port1"]);
        let sent =
            frames.map(|(time, port, direction, frame)| (time, port, direction as u32, frame.to_vec()));
        assert_eq!(seen, sent);
    }
}
