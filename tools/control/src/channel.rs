//! A channel: messages sealed by a key, over any stream of bytes.
//!
//! On the wire each message is its length (two bytes, big endian) and so many bytes of Noise.

use std::io::{self, Read, Write};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use snow::{Builder, HandshakeState, StatelessTransportState};

use crate::broken::Broken;
use crate::key::Key;
use crate::message;

/// The protocol, in Noise's words.
const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b";
/// What both ends must agree on besides: changed with the messages.
const VERSION: &[u8] = b"margay control 1";
/// Most bytes of a message of Noise, and of what it carries.
const SEALED_BYTES_MAX: usize = 65_535;
const TAG_BYTES: usize = 16;
/// Most bytes of a message.
pub const MESSAGE_BYTES_MAX: usize = SEALED_BYTES_MAX - TAG_BYTES;

/// The end that sends.
pub struct Sender<W> {
    state: Arc<StatelessTransportState>,
    stream: W,
    number: u64,
}

/// The end that receives.
pub struct Receiver<R> {
    state: Arc<StatelessTransportState>,
    stream: R,
    number: u64,
}

/// Makes a channel as the side that has connected.
///
/// # Errors
/// The other side does not know the key, or the stream fails.
pub fn connect<R: Read, W: Write>(
    key: &Key,
    reads: R,
    writes: W,
) -> Result<(Sender<W>, Receiver<R>), Broken> {
    handshake(builder(key)?.build_initiator().map_err(forged)?, reads, writes)
}

/// As [`connect`], as the side that was connected to.
///
/// # Errors
/// As [`connect`].
pub fn accept<R: Read, W: Write>(key: &Key, reads: R, writes: W) -> Result<(Sender<W>, Receiver<R>), Broken> {
    handshake(builder(key)?.build_responder().map_err(forged)?, reads, writes)
}

fn builder(key: &Key) -> Result<Builder<'_>, Broken> {
    let pattern = PATTERN.parse().map_err(forged)?;
    Builder::new(pattern).prologue(VERSION).and_then(|builder| builder.psk(0, key.bytes())).map_err(forged)
}

fn forged(_: snow::Error) -> Broken {
    Broken::Forged
}

fn handshake<R: Read, W: Write>(
    mut state: HandshakeState,
    mut reads: R,
    mut writes: W,
) -> Result<(Sender<W>, Receiver<R>), Broken> {
    let mut buffer = [0; 256];
    while !state.is_handshake_finished() {
        if state.is_my_turn() {
            let length = state.write_message(&[], &mut buffer).map_err(forged)?;
            write_sealed(&mut writes, &buffer[..length])?;
        } else {
            let sealed = read_sealed(&mut reads)?;
            state.read_message(&sealed, &mut buffer).map_err(forged)?;
        }
    }
    let state = Arc::new(state.into_stateless_transport_mode().map_err(forged)?);
    let sender = Sender { state: state.clone(), stream: writes, number: 0 };
    Ok((sender, Receiver { state, stream: reads, number: 0 }))
}

fn write_sealed(stream: &mut impl Write, sealed: &[u8]) -> Result<(), Broken> {
    let length = u16::try_from(sealed.len()).map_err(|_| Broken::TooLong)?;
    // In one piece, so that it is one packet.
    stream.write_all(&[&length.to_be_bytes(), sealed].concat())?;
    Ok(stream.flush()?)
}

fn read_sealed(stream: &mut impl Read) -> Result<Vec<u8>, Broken> {
    let mut length = [0; 2];
    // No byte at all is an end, one is a message cut off.
    let first = loop {
        match stream.read(&mut length[..1]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read?,
        }
    };
    if first == 0 {
        return Err(Broken::Closed);
    }
    stream.read_exact(&mut length[1..])?;
    let mut sealed = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut sealed)?;
    Ok(sealed)
}

impl<W: Write> Sender<W> {
    /// Sends a message.
    ///
    /// # Errors
    /// It is too long, or the stream fails.
    pub fn send<M: Serialize>(&mut self, message: &M) -> Result<(), Broken> {
        let plain = message::encode(message)?;
        if plain.len() > MESSAGE_BYTES_MAX {
            return Err(Broken::TooLong);
        }
        let mut sealed = vec![0; plain.len() + TAG_BYTES];
        let length = self.state.write_message(self.number, &plain, &mut sealed).map_err(forged)?;
        self.number += 1;
        write_sealed(&mut self.stream, sealed.get(..length).unwrap_or_default())
    }

    /// The stream beneath.
    pub fn stream(&self) -> &W {
        &self.stream
    }
}

impl<R: Read> Receiver<R> {
    /// Receives the next message.
    ///
    /// # Errors
    /// The stream ends or fails, or what comes is not the other side's next message.
    pub fn receive<M: DeserializeOwned>(&mut self) -> Result<M, Broken> {
        let sealed = read_sealed(&mut self.stream)?;
        let mut plain = vec![0; sealed.len()];
        let length = self.state.read_message(self.number, &sealed, &mut plain).map_err(forged)?;
        self.number += 1;
        message::parse(plain.get(..length).unwrap_or_default())
    }

    /// The stream beneath.
    pub fn stream(&self) -> &R {
        &self.stream
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::message::Request;

    fn key(byte: u8) -> Key {
        Key::new([byte; 32])
    }

    type Ends = (Sender<UnixStream>, Receiver<UnixStream>);

    /// Both ends of a channel, with a key each.
    fn channel([connects, accepts]: [Key; 2]) -> (Result<Ends, Broken>, Result<Ends, Broken>) {
        let (one, other) = UnixStream::pair().unwrap();
        let accepting = std::thread::spawn(move || accept(&accepts, other.try_clone().unwrap(), other));
        let connected = connect(&connects, one.try_clone().unwrap(), one);
        (connected, accepting.join().unwrap())
    }

    #[test]
    fn messages_arrive_in_both_directions() {
        let (one, other) = channel([key(1), key(1)]);
        let ((mut sends, mut hears), (mut answers, mut asks)) = (one.unwrap(), other.unwrap());
        for id in 0..3 {
            sends.send(&Request::Kill { id }).unwrap();
            assert_eq!(asks.receive::<Request>().unwrap(), Request::Kill { id });
        }
        answers.send(&Request::Jobs).unwrap();
        assert_eq!(hears.receive::<Request>().unwrap(), Request::Jobs);
        drop((sends, hears));
        assert!(matches!(asks.receive::<Request>(), Err(Broken::Closed)));
    }

    #[test]
    fn another_key_is_refused_at_the_first_message() {
        let (_, accepted) = channel([key(1), key(2)]);
        assert!(matches!(accepted, Err(Broken::Forged)));
    }

    /// What a launcher that asks to kill job 7 says, as somebody on the wire sees it.
    fn recorded() -> (Vec<u8>, Vec<u8>) {
        let (launcher, mut wire) = UnixStream::pair().unwrap();
        let (mut relay, node) = UnixStream::pair().unwrap();
        let accepting = std::thread::spawn(move || {
            let (_, mut asks) = accept(&key(1), node.try_clone().unwrap(), node).unwrap();
            asks.receive::<Request>().unwrap()
        });
        let asking = std::thread::spawn(move || {
            let (mut sends, _) = connect(&key(1), launcher.try_clone().unwrap(), launcher).unwrap();
            sends.send(&Request::Kill { id: 7 }).unwrap();
        });
        let pass = |from: &mut UnixStream, to: &mut UnixStream| {
            let sealed = read_sealed(from).unwrap();
            write_sealed(to, &sealed).unwrap();
            [&(sealed.len() as u16).to_be_bytes()[..], &sealed].concat()
        };
        let mut back = relay.try_clone().unwrap();
        let hello = pass(&mut wire, &mut relay);
        let mut wire_back = wire.try_clone().unwrap();
        pass(&mut back, &mut wire_back);
        let kill = pass(&mut wire, &mut relay);
        asking.join().unwrap();
        assert_eq!(accepting.join().unwrap(), Request::Kill { id: 7 });
        (hello, kill)
    }

    #[test]
    fn what_was_recorded_is_worth_nothing_later() {
        let (hello, kill) = recorded();
        let all = [hello, kill].concat();
        // The first message is answered, since it is sealed by the key; what follows was sealed for another answer.
        let (_, mut asks) = accept(&key(1), &all[..], Vec::new()).unwrap();
        assert!(matches!(asks.receive::<Request>(), Err(Broken::Forged)));
    }

    #[test]
    fn what_is_changed_repeated_or_cut_off_is_refused() {
        let (one, other) = channel([key(3), key(3)]);
        let ((sends, _), (_, asks)) = (one.unwrap(), other.unwrap());
        let plain = message::encode(&Request::Down).unwrap();
        let mut sealed = vec![0; plain.len() + TAG_BYTES];
        sends.state.write_message(0, &plain, &mut sealed).unwrap();
        let takes = |number, sealed: &[u8]| {
            let mut plain = vec![0; sealed.len()];
            asks.state.read_message(number, sealed, &mut plain).is_ok()
        };
        for at in 0..sealed.len() {
            let mut wrong = sealed.clone();
            wrong[at] ^= 1;
            assert!(!takes(0, &wrong) && !takes(0, &sealed[..at]));
        }
        // Again, or in the place of another.
        assert!(takes(0, &sealed) && !takes(1, &sealed));
        let cut = [0, 9, 1, 2];
        assert!(matches!(read_sealed(&mut &cut[..]), Err(Broken::Stream(_))));
        assert!(matches!(read_sealed(&mut &cut[..1]), Err(Broken::Stream(_))));
    }
}
