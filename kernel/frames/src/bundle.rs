//! The payload of a frame with several whole messages: each behind its length, of [`LENGTH_BYTES`] bytes, little-endian.

/// Bytes before each message.
pub const LENGTH_BYTES: usize = 2;
/// Longest payload of such a frame: that of Ethernet without jumbo frames. A card copies as much before it sends.
pub const BUNDLE_BYTES_MAX: usize = 1_514 - crate::HEAD_BYTES;

/// The first message, and what follows it; nothing if there is none that is whole and not empty.
fn split(payload: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = payload.split_first_chunk::<LENGTH_BYTES>()?;
    rest.split_at_checked(u16::from_le_bytes(*length).into()).filter(|(message, _)| !message.is_empty())
}

/// Whether a payload is whole messages, one at least, and nothing else.
pub fn is_sound(payload: &[u8]) -> bool {
    let mut rest = payload;
    while let Some((_, after)) = split(rest) {
        rest = after;
    }
    rest.is_empty() && !payload.is_empty()
}

/// The messages of a payload.
pub fn messages(payload: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = payload;
    core::iter::from_fn(move || {
        let (message, after) = split(rest)?;
        rest = after;
        Some(message)
    })
}

/// Puts the length of a message before it, for which [`LENGTH_BYTES`] bytes have been left in front of it.
pub fn seal(place: &mut [u8], bytes: usize) {
    place[..LENGTH_BYTES].copy_from_slice(&(bytes as u16).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn bundle(messages: &[&[u8]]) -> Vec<u8> {
        let behind_length = |message: &&[u8]| [&(message.len() as u16).to_le_bytes()[..], message].concat();
        messages.iter().flat_map(behind_length).collect()
    }

    #[test]
    fn messages_come_out_as_they_went_in() {
        let all: [&[u8]; 3] = [b"one", b"2", &[3; 700]];
        let payload = bundle(&all);
        assert!(is_sound(&payload));
        assert_eq!(messages(&payload).collect::<Vec<_>>(), all);
    }

    #[test]
    fn what_is_cut_short_or_empty_is_found() {
        let payload = bundle(&[b"one", b"two"]);
        for bytes in 0..payload.len() {
            assert_eq!(is_sound(&payload[..bytes]), bytes == 5, "{bytes}");
        }
        assert!(!is_sound(&bundle(&[b"one", b""])) && !is_sound(&[0, 0]) && !is_sound(&[255; 9]));
    }
}
