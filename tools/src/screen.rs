//! The node's screen as a PNG file, taken with QEMU's `screendump`.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use serde_json::json;

use crate::failure::{Doing, Failure, Outcome};
use crate::qmp::Monitor;

/// Pixels as QEMU dumps them: rows from the top, three bytes each, red, green, blue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub rgb: Vec<u8>,
}

/// Takes the screen now and writes it to `png`. `scratch` is a file for QEMU to write to. Errors: those of the monitor and of the files.
pub fn dump(monitor: &mut Monitor, scratch: &Path, png: &Path) -> Outcome<()> {
    monitor.command("screendump", json!({ "filename": scratch }))?;
    let bytes = std::fs::read(scratch).doing(|| format!("read {}", scratch.display()))?;
    let picture =
        Picture::from_ppm(&bytes).ok_or_else(|| Failure::host("QEMU's screen dump is not a PPM picture"))?;
    picture.write_png(png)
}

impl Picture {
    /// Reads a binary PPM picture with 255 shades (ppm(5)), QEMU's default form; nothing if it is none, or no pixels.
    pub fn from_ppm(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(b"P6")?;
        let mut numbers = [0u32; 3];
        for number in &mut numbers {
            let start = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
            let end = start + rest[start..].iter().position(|byte| !byte.is_ascii_digit())?;
            *number = std::str::from_utf8(&rest[start..end]).ok()?.parse().ok()?;
            rest = &rest[end..];
        }
        let [width, height, shades] = numbers;
        let length = (width as usize).checked_mul(height as usize)?.checked_mul(3)?;
        // One white-space byte stands between header and pixels.
        let rgb = rest.get(1..)?.get(..length)?.to_vec();
        (shades == 255 && length > 0).then_some(Self { width, height, rgb })
    }

    /// Reads a PNG file of the form that [`Picture::write_png`] writes.
    pub fn read_png(path: &Path) -> Outcome<Self> {
        let what = || format!("read the picture {}", path.display());
        let file = std::io::BufReader::new(File::open(path).doing(what)?);
        let mut reader = png::Decoder::new(file).read_info().doing(what)?;
        let bytes = reader.output_buffer_size().ok_or("it is too large").doing(what)?;
        let mut rgb = vec![0; bytes];
        let info = reader.next_frame(&mut rgb).doing(what)?;
        if info.color_type != png::ColorType::Rgb || info.bit_depth != png::BitDepth::Eight {
            return Err(Failure::host(format!("cannot {}: it is not 24-bit colour", what())));
        }
        Ok(Self { width: info.width, height: info.height, rgb })
    }

    fn write_png(&self, path: &Path) -> Outcome<()> {
        let what = || format!("write the picture {}", path.display());
        let file = BufWriter::new(File::create(path).doing(what)?);
        let mut encoder = png::Encoder::new(file, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().doing(what)?;
        writer.write_image_data(&self.rgb).doing(what)?;
        writer.finish().doing(what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ppm_is_read_and_png_keeps_every_pixel() {
        let picture = Picture::from_ppm(b"P6\n2 1\n255\n\x01\x02\x03\x0a\x20\xff").unwrap();
        assert_eq!((picture.width, picture.height), (2, 1));
        assert_eq!(picture.rgb, [1, 2, 3, 10, 32, 255]);
        let path = std::env::temp_dir().join(format!("lwk-screen-{}.png", std::process::id()));
        picture.write_png(&path).unwrap();
        let read = Picture::read_png(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read, picture);
    }

    #[test]
    fn what_is_not_a_whole_picture_is_none() {
        let cases: [&[u8]; 6] = [
            b"",
            b"P5\n1 1\n255\n...",
            b"P6\n2 1\n255\n.....",
            b"P6\n1 1\n15\n...",
            b"P6\n0 0\n255\n",
            b"P6 99999999999",
        ];
        for bytes in cases {
            assert_eq!(Picture::from_ppm(bytes), None);
        }
    }
}
