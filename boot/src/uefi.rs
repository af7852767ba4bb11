//! Disk images for UEFI: a GPT with one EFI system partition, and in it the boot loader, the kernel and the RAM disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::Context;
use fatfs::{FileSystem, FormatVolumeOptions, FsOptions};
use gpt::disk::LogicalBlockSize;

/// The boot loader, which the build script has built.
const LOADER: &[u8] = include_bytes!(env!("MARGAY_UEFI_LOADER"));
/// Where firmware looks for it on a disk that it does not know (UEFI specification 2.10, section 3.5.1.1).
const LOADER_FOLDERS: [&str; 2] = ["efi", "efi/boot"];
const LOADER_FILE: &str = "efi/boot/bootx64.efi";
/// The names that the boot loader opens (`uefi/src/files.rs`).
const KERNEL: &str = "kernel-x86_64";
const RAM_DISK: &str = "ramdisk";

const BLOCK: LogicalBlockSize = LogicalBlockSize::Lb512;
const BLOCK_BYTES: u64 = 512;
/// Partitions begin at whole MiB, as those of other tools; before the first and after the last one there is room for the partition table.
const ALIGNMENT: u64 = 1 << 20;
/// Room of the file system for its own tables and folders: they take less than one part in so many, and this much.
const TABLES_PART: u64 = 64;
const TABLES_BYTES: u64 = 1 << 20;

/// Writes the image. Errors: a file cannot be read or written.
pub fn write(kernel: &Path, ram_disk: &Path, image: &Path) -> anyhow::Result<()> {
    let open = |path: &Path| File::open(path).with_context(|| format!("{} cannot be read", path.display()));
    let (mut kernel, mut ram_disk) = (open(kernel)?, open(ram_disk)?);
    let content = LOADER.len() as u64 + kernel.metadata()?.len() + ram_disk.metadata()?.len();
    let bytes = (content + content / TABLES_PART + TABLES_BYTES).next_multiple_of(ALIGNMENT);

    let mut disk = OpenOptions::new().create(true).truncate(true).read(true).write(true).open(image)?;
    disk.set_len(bytes + 2 * ALIGNMENT)?;
    let start = partition(&mut disk, bytes)?;
    let mut volume = Volume { disk, start, bytes, position: 0 };
    fatfs::format_volume(&mut volume, FormatVolumeOptions::new().volume_label(*b"MARGAY     "))?;
    let volume = FileSystem::new(&mut volume, FsOptions::new())?;
    let root = volume.root_dir();
    for folder in LOADER_FOLDERS {
        root.create_dir(folder)?;
    }
    let add = |name: &str, from: &mut dyn Read| io::copy(from, &mut root.create_file(name)?);
    add(LOADER_FILE, &mut &*LOADER)?;
    add(KERNEL, &mut kernel)?;
    add(RAM_DISK, &mut ram_disk)?;
    drop(root);
    Ok(volume.unmount()?)
}

/// Writes the partition table, and gives the first byte of the one partition, which is so large.
fn partition(disk: &mut File, bytes: u64) -> anyhow::Result<u64> {
    let blocks = disk.metadata()?.len() / BLOCK_BYTES;
    // Older tools take a disk without it for empty.
    gpt::mbr::ProtectiveMBR::with_lb_size(u32::try_from(blocks - 1).unwrap_or(u32::MAX))
        .overwrite_lba0(disk)?;
    let mut table = gpt::GptConfig::new()
        .writable(true)
        .initialized(false)
        .logical_block_size(BLOCK)
        .create_from_device(Box::new(disk), None)?;
    table.update_partitions(Default::default())?;
    let aligned = Some(ALIGNMENT / BLOCK_BYTES);
    let number = table.add_partition("boot", bytes, gpt::partition_types::EFI, 0, aligned)?;
    let made = table.partitions().get(&number).context("the partition is not in its table")?;
    let start = made.bytes_start(BLOCK)?;
    table.write()?;
    Ok(start)
}

/// The partition's part of the disk.
struct Volume {
    disk: File,
    start: u64,
    bytes: u64,
    position: u64,
}

impl Volume {
    /// As many of `wanted` bytes as there are before the end, with the disk at the position.
    fn room(&mut self, wanted: usize) -> io::Result<usize> {
        self.disk.seek(SeekFrom::Start(self.start + self.position))?;
        Ok(wanted.min(usize::try_from(self.bytes - self.position).unwrap_or(usize::MAX)))
    }
}

impl Read for Volume {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = self.room(buffer.len())?;
        let read = self.disk.read(&mut buffer[..room])?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Write for Volume {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let room = self.room(buffer.len())?;
        let written = self.disk.write(&buffer[..room])?;
        self.position += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.disk.flush()
    }
}

impl Seek for Volume {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(offset) => self.bytes.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = target.filter(|target| *target <= self.bytes).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
