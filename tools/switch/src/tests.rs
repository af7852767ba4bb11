//! Switches with stations, and switches with each other, over the host's sockets.

use lwk_frames::frame::AT_MARK;

use super::*;

const QUEUE: usize = 512;

fn frame(to: u8, from: u8, number: u16) -> Vec<u8> {
    let head = [2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from, 0x88, 0xb5, 1, 0];
    [&head[..], &number.to_le_bytes()].concat()
}

fn switch(stations: usize, words: &str) -> (Switch, Vec<UnixDatagram>) {
    let settings = Settings::parse(words).unwrap();
    let (switch, stations) = Switch::start(Setup { stations, settings, ..Setup::default() }).unwrap();
    for station in &stations {
        station.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    }
    (switch, stations)
}

fn receive(station: &UnixDatagram) -> Vec<u8> {
    let mut buffer = [0; 100];
    let length = station.recv(&mut buffer).unwrap();
    buffer[..length].to_vec()
}

#[test]
fn frames_reach_their_station_and_a_slow_one_loses_none_that_fit() {
    let (switch, stations) = switch(2, "seed=1");
    for number in 0..QUEUE as u16 {
        stations[0].send(&frame(1, 0, number)).unwrap();
    }
    let mut marked = 0;
    for number in 0..QUEUE as u16 {
        let mut came = receive(&stations[1]);
        marked += u64::from(came[AT_MARK]);
        came[AT_MARK] = 0;
        assert_eq!(came, frame(1, 0, number));
    }
    drop(stations);
    let seen = switch.stop().ports;
    assert_eq!((seen[0].frames.from, seen[1].frames.to), (QUEUE as u64, QUEUE as u64));
    assert_eq!((seen[1].overrun, seen[1].marked), (0, marked));
}

#[test]
fn a_wire_has_its_latency_and_its_bandwidth() {
    // 42 bytes on the wire at 1 Mbit/s: 336 us each.
    let (switch, stations) = switch(2, "latency=20000,bandwidth=1");
    let begun = Instant::now();
    (0..100).for_each(|number| assert!(stations[0].send(&frame(1, 0, number)).is_ok()));
    assert_eq!(receive(&stations[1]), frame(1, 0, 0));
    assert!(begun.elapsed() >= Duration::from_micros(20_336));
    (1..100).for_each(|number| assert_eq!(receive(&stations[1]), frame(1, 0, number)));
    assert!(begun.elapsed() >= Duration::from_micros(20_000 + 33_600));
    assert_eq!(switch.stop().ports[1].bytes, 1_800);
}

#[test]
fn a_full_queue_asks_its_senders_for_a_pause() {
    let (switch, stations) = switch(2, "bandwidth=1,queue=8,pause=1");
    (0..8).for_each(|number| assert!(stations[0].send(&frame(1, 0, number)).is_ok()));
    let pause = receive(&stations[0]);
    assert!(lwk_frames::pause::asked(&pause).is_some_and(|quanta| quanta > 0), "{pause:?}");
    assert!(switch.stop().ports[0].pauses > 0);
}

#[test]
fn switches_of_two_machines_are_one_network() {
    let local = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
    let setup = Setup { stations: 1, listen: Some(local(0)), ..Setup::default() };
    let (first, at_first) = Switch::start(setup).unwrap();
    let address = first.address().unwrap();
    let setup = Setup { stations: 2, uplinks: vec![address], ..Setup::default() };
    let (second, at_second) = Switch::start(setup).unwrap();
    let stations = at_first.iter().chain(&at_second);
    stations.for_each(|station| station.set_read_timeout(Some(Duration::from_secs(60))).unwrap());
    // Whoever speaks first is looked for everywhere: the first switch knows of the second by then, or by its next word.
    at_second[0].send(&frame(9, 1, 0)).unwrap();
    assert_eq!(receive(&at_first[0]), frame(9, 1, 0));
    assert_eq!(receive(&at_second[1]), frame(9, 1, 0));
    at_first[0].send(&frame(1, 0, 1)).unwrap();
    assert_eq!(receive(&at_second[0]), frame(1, 0, 1));
    at_second[0].send(&frame(0, 1, 2)).unwrap();
    assert_eq!(receive(&at_first[0]), frame(0, 1, 2));
    // What has been learned: the other station of the second has had the first frame only.
    at_second[0].send(&frame(2, 1, 3)).unwrap();
    assert_eq!(receive(&at_second[1]), frame(2, 1, 3));
    let (first, second) = (first.stop().ports, second.stop().ports);
    assert_eq!((first.len(), second.len()), (2, 3));
    assert_eq!(second[2].remote, Some(address));
    assert_eq!((second[1].frames.to, second[2].frames.from), (2, 1));
}
