//! The binomial tree of the firsts, by the numbers of their nodes. Node 0 is its root.

/// A first in the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tree {
    me: u32,
    firsts: u32,
}

impl Tree {
    /// The first number `me` of so many.
    pub fn new(me: u32, firsts: u32) -> Tree {
        Tree { me, firsts }
    }

    /// Its parent: the same number without its lowest bit. The root has none.
    pub fn parent(&self) -> Option<u32> {
        (self.me != 0).then(|| self.me & (self.me - 1))
    }

    /// Its children, the one with most firsts below it last.
    pub fn children(&self) -> impl Iterator<Item = u32> + use<> {
        let (me, firsts) = (self.me, self.firsts);
        let lowest = if me == 0 { u32::BITS } else { me.trailing_zeros() };
        (0..lowest).map_while(move |bit| me.checked_add(1 << bit).filter(|child| *child < firsts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_first_but_the_root_is_the_child_of_its_parent_alone() {
        for firsts in 1..=65 {
            let mut found = vec![0; firsts as usize];
            for me in 0..firsts {
                for child in Tree::new(me, firsts).children() {
                    assert_eq!(Tree::new(child, firsts).parent(), Some(me));
                    found[child as usize] += 1;
                }
            }
            assert_eq!(found[0], 0);
            assert!(found[1..].iter().all(|times| *times == 1), "{firsts}");
        }
    }
}
