//! Files of the volume that the boot loader was started from.

use core::slice;

use uefi::prelude::{BootServices, Handle, Status, cstr16};
use uefi::proto::loaded_image::LoadedImage;
use uefi::proto::media::file::{File, FileAttribute, FileInfo, FileMode, FileType};
use uefi::proto::media::fs::SimpleFileSystem;
use uefi::table::boot::{AllocateType, MemoryType, PAGE_SIZE, ScopedProtocol};
use uefi::{CStr16, Result as Answer};

use crate::problem::Problem;

/// A file's name for the firmware and for people. As the crate `bootloader` names them.
pub type Name = (&'static CStr16, &'static str);
pub const KERNEL: Name = (cstr16!("kernel-x86_64"), "the kernel");
pub const RAM_DISK: Name = (cstr16!("ramdisk"), "the RAM disk");

/// Room for the firmware's description of a file: its name and some numbers.
const INFO_BYTES: usize = 512;

/// All of a file, in pages of its own.
///
/// # Errors
/// The volume or the file cannot be read, or there is no memory for it.
pub fn read(image: Handle, services: &BootServices, (name, spoken): Name) -> Result<&'static [u8], Problem> {
    let mut volume = volume(image, services).map_err(|error| Problem::Volume(error.status()))?;
    let failed = |status: Status| Problem::File(spoken, status);
    let mut folder = volume.open_volume().map_err(|error| failed(error.status()))?;
    let opened = folder.open(name, FileMode::Read, FileAttribute::empty());
    let FileType::Regular(mut file) =
        opened.and_then(|file| file.into_type()).map_err(|error| failed(error.status()))?
    else {
        return Err(failed(Status::NOT_FOUND));
    };
    let mut info = [0; INFO_BYTES];
    let info: &mut FileInfo = file.get_info(&mut info).map_err(|error| failed(error.status()))?;
    let bytes = info.file_size() as usize;
    let pages = bytes.div_ceil(PAGE_SIZE).max(1);
    let place = services
        .allocate_pages(AllocateType::AnyPages, MemoryType::LOADER_DATA, pages)
        .map_err(|error| failed(error.status()))? as *mut u8;
    // SAFETY: the pages were just allocated and are never freed; UEFI maps all memory at its own address.
    let content = unsafe {
        place.write_bytes(0, pages * PAGE_SIZE);
        slice::from_raw_parts_mut(place, bytes)
    };
    let read = file.read(content).map_err(|error| failed(error.status()))?;
    if read == bytes { Ok(content) } else { Err(failed(Status::END_OF_FILE)) }
}

/// The file system of the device that this program was loaded from.
fn volume(image: Handle, services: &BootServices) -> Answer<ScopedProtocol<'_, SimpleFileSystem>> {
    let device = crate::open::<LoadedImage>(services, image, image)?.device();
    crate::open(services, image, device)
}
