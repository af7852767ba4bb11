//! What a receive costs with few and with many connected peers (O2G slides): the crates that match and deliver, `lwk-portals` and `lwk-frames`, on frames that
//! are handed to them one by one. No card, no wire, no other process: only what could grow with the number of peers.

use std::time::{Duration, Instant};

use lwk::nodes::peer::Peer;

use super::{PEER_SIZES, PEERS};
use crate::figure::Figure;

/// Messages between two looks at the clock, and such looks for each figure.
const MESSAGES: u32 = 64;
const LOOKS: usize = 41;
/// A node with a number of connected peers, of which one sends.
struct Network {
    target: Peer,
    sender: Peer,
    from: u32,
    now: u64,
}

impl Network {
    fn new(peers: u16) -> Result<Network, String> {
        let mut target = Peer::new(0, peers + 1, 1)?;
        target.open()?;
        let mut now = 1;
        for peer in 2..=peers {
            let mut idle = Peer::new(peer, peers + 1, 1)?;
            let from = idle.bind()?;
            idle.put(from, 0, 8)?;
            settle(&mut idle, &mut target, &mut now);
        }
        let mut sender = Peer::new(1, peers + 1, 1)?;
        let from = sender.bind()?;
        sender.put(from, 0, 8)?;
        settle(&mut sender, &mut target, &mut now);
        Ok(Network { target, sender, from, now })
    }

    /// Time of the target for a number of messages.
    fn look(&mut self, bytes: u64) -> Result<Duration, String> {
        let mut time = Duration::ZERO;
        for _ in 0..MESSAGES {
            self.sender.put(self.from, 0, bytes)?;
            loop {
                let frames = self.sender.sent();
                if frames.is_empty() {
                    break;
                }
                self.now += 5;
                let begun = Instant::now();
                self.target.receive(&frames, self.now);
                time += begun.elapsed();
                let answers = self.target.sent();
                self.sender.receive(&answers, self.now);
            }
        }
        Ok(time)
    }
}

/// Carries frames until nobody has any.
fn settle(one: &mut Peer, other: &mut Peer, now: &mut u64) {
    loop {
        let frames = (one.sent(), other.sent());
        if frames.0.is_empty() && frames.1.is_empty() {
            return;
        }
        *now += 5;
        other.receive(&frames.0, *now);
        one.receive(&frames.1, *now);
    }
}

/// Nanoseconds of a receive of each size, for each number of peers, in the order of both. The networks take turns; medians.
///
/// # Errors
/// A call of Portals fails.
pub fn measure(peers: &[u16], sizes: &[u64]) -> Result<Vec<Vec<f64>>, String> {
    let mut networks = peers.iter().map(|peers| Network::new(*peers)).collect::<Result<Vec<_>, _>>()?;
    let mut table = vec![Vec::new(); peers.len()];
    for bytes in sizes {
        let mut looks = vec![Vec::new(); peers.len()];
        for _ in 0..LOOKS {
            for (network, looks) in networks.iter_mut().zip(&mut looks) {
                looks.push(network.look(*bytes)?);
            }
        }
        for (row, looks) in table.iter_mut().zip(&mut looks) {
            looks.sort_unstable();
            row.push(looks[LOOKS / 2].as_nanos() as f64 / f64::from(MESSAGES));
        }
    }
    Ok(table)
}

/// The cost of a receive with the most peers, of that with the fewest.
pub fn figures(costs: &[Vec<f64>]) -> Vec<Figure> {
    let (Some(few), Some(many)) = (costs.first(), costs.last()) else { return Vec::new() };
    let ratios = few.iter().zip(many).map(|(few, many)| many / few);
    let worst = ratios.fold(0.0, f64::max);
    let most = PEERS.last().copied().unwrap_or_default();
    vec![
        Figure::at_most(
            &format!("cost of a receive of 64 B with {most} peers, of that with {}", PEERS[0]),
            many[0] / few[0],
            1.05,
        ),
        Figure::at_most(&format!("the same, the worst size up to {} B", PEER_SIZES[7]), worst, 1.05),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_and_is_measured() {
        let mut network = Network::new(3).unwrap();
        network.sender.memory()[..3_000].fill(7);
        assert!(network.look(3_000).unwrap() > Duration::ZERO);
        assert_eq!(network.target.memory()[..3_000], [7; 3_000]);
        let table = measure(&[2, 4], &[64]).unwrap();
        assert!(table.iter().all(|row| row.len() == 1 && row[0] > 0.0));
    }

    #[test]
    fn peers_are_compared_with_the_fewest() {
        let flat = figures(&[vec![100.0; 8], vec![1.0; 8], vec![1.0; 8], vec![104.0; 8]]);
        assert!(flat.iter().all(Figure::is_met));
        let mut many = vec![104.0; 8];
        many[3] = 200.0;
        let steep = figures(&[vec![100.0; 8], many]);
        assert!(steep[0].is_met() && !steep[1].is_met());
    }
}
