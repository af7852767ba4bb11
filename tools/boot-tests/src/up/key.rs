//! Nodes that stay up do nothing for those who do not know their key, whatever these send.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::Up;
use crate::judge::Expected;
use crate::special::strings;
use lwk::subcommand::{Lwk, PATIENCE};

/// How long the nodes may take to close a connection of which they want no more.
const CLOSED: Duration = Duration::from_secs(PATIENCE);
/// Messages of a command that asks for one thing: the handshake's first, who it is, and what it asks for.
const SAID: usize = 3;

/// No key, another key, one that others can read; bytes at random, a message cut off, and a session that was recorded.
pub fn obeys_a_key(lwk: &Lwk) -> Result<(), String> {
    let up = Up::start(lwk, 1, 1)?;
    let failed = |error: std::io::Error| error.to_string();
    let address = fs::read_to_string(up.at().join("address")).map_err(failed)?;
    let key = fs::read(up.at().join("key")).map_err(failed)?;
    let line = |status, text: &str| Expected {
        status,
        stdout_lines: Some(0),
        stderr: strings(&[text]),
        stderr_lines: Some(1),
        ..Expected::default()
    };
    let set_key = |bytes: &[u8], mode| {
        fs::write(up.at().join("key"), bytes)?;
        fs::set_permissions(up.at().join("key"), fs::Permissions::from_mode(mode))
    };
    let other_key: Vec<u8> = key.iter().map(|digit| if *digit == b'0' { b'1' } else { b'0' }).collect();
    let wrong: [(&[u8], u32, i32, &str); 4] = [
        (&other_key, 0o600, 69, "it has another key"),
        (&key[..20], 0o600, 2, "a key is 64 hexadecimal digits"),
        (b"", 0o600, 2, "a key is 64 hexadecimal digits"),
        (&key, 0o644, 2, "others can read this key"),
    ];
    for (bytes, mode, status, text) in wrong {
        set_key(bytes, mode).map_err(failed)?;
        for command in ["ps", "nodes", "down"] {
            line(status, text).judge(&up.command(command, &[])?)?;
        }
        line(status, text).judge(&up.command("kill", &["1"])?)?;
        line(status, text).judge(&up.launch(&[], "hello")?)?;
    }
    fs::remove_file(up.at().join("key")).map_err(failed)?;
    line(2, "key: No such file").judge(&up.command("ps", &[])?)?;
    set_key(&key, 0o600).map_err(failed)?;

    let said = record_session(&up, &address)?;
    set_address(&up, &address)?;
    // Forged, cut off at every place, and the same once more.
    let noise: Vec<u8> = (0..4096u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let cuts = (0..said.len()).step_by(7).map(|cut| said[..cut].to_vec());
    for bytes in cuts.chain([noise, vec![0xff; 70_000], said.clone()]) {
        let answer = send(&address, &bytes).map_err(failed)?;
        // To who has the first message right, recorded or not, a node says no more than the second.
        if answer.len() > 64 {
            return Err(format!("a node has answered {} bytes to somebody without a key", answer.len()));
        }
    }
    Expected { stdout_lines: Some(1), ..Expected::default() }.judge(&up.launch(&[], "hello")?)?;
    let log = fs::read_to_string(up.at().join("node-0.log")).map_err(failed)?;
    match log.contains("is refused: the other side has another key") {
        true => Ok(()),
        false => Err(format!("nobody has been refused\n{log}")),
    }
}

fn set_address(up: &Up<'_>, address: &str) -> Result<(), String> {
    fs::write(up.at().join("address"), address).map_err(|error| error.to_string())
}

/// What a command with the right key says, as somebody between it and the nodes has recorded it: it would end the nodes.
fn record_session(up: &Up<'_>, address: &str) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| error.to_string();
    let relay = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    set_address(up, &relay.local_addr().map_err(failed)?.to_string())?;
    let address = address.to_owned();
    let recording = std::thread::spawn(move || -> std::io::Result<Vec<u8>> {
        let (mut asks, _) = relay.accept()?;
        let mut node = TcpStream::connect(&address)?;
        let (mut back, mut to) = (node.try_clone()?, asks.try_clone()?);
        std::thread::spawn(move || std::io::copy(&mut back, &mut to));
        let mut said = Vec::new();
        let mut bytes = [0; 4096];
        // The handshake goes on; what asks for something is kept back.
        let length = asks.read(&mut bytes)?;
        node.write_all(&bytes[..length])?;
        said.extend_from_slice(&bytes[..length]);
        asks.set_read_timeout(Some(CLOSED))?;
        while messages(&said) < SAID {
            match asks.read(&mut bytes)? {
                0 => break,
                length => said.extend_from_slice(&bytes[..length]),
            }
        }
        asks.shutdown(Shutdown::Both)?;
        node.shutdown(Shutdown::Both)?;
        Ok(said)
    });
    let ended = up.command("down", &[])?;
    if ended.status != Some(69) {
        return Err(format!("a command whose connection breaks ends with status {:?}", ended.status));
    }
    let said = recording.join().map_err(|_| "the relay has panicked".to_owned())?.map_err(failed)?;
    match messages(&said) {
        SAID => Ok(said),
        count => Err(format!("{count} messages of {SAID} were recorded, {} bytes", said.len())),
    }
}

/// Whole messages in what was said: each is its length in two bytes, and so many bytes.
fn messages(mut said: &[u8]) -> usize {
    let mut count = 0;
    while let Some((length, rest)) = said.split_first_chunk()
        && let Some((_, rest)) = rest.split_at_checked(u16::from_be_bytes(*length).into())
    {
        (said, count) = (rest, count + 1);
    }
    count
}

/// Sends these bytes and nothing else; what comes back until the node closes the connection.
fn send(address: &str, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(CLOSED))?;
    // It may have been closed in the middle.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if error.kind() != std::io::ErrorKind::ConnectionReset => Err(error),
        _ => Ok(answer),
    }
}
