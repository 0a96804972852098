//! Chooses the next item to delete.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use oneread::hash::{Digest, Domain, reduce};

/// The words of a step's digest that decide about deletions. The table uses other words.
const VICTIM: Domain = Domain::new(0x11fe);

/// How long items live, in a table whose number of items is constant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Lifetimes {
    /// Every item is equally likely, whatever its age. The papers' choice.
    #[default]
    Memoryless,
    /// The oldest item: first in, first out.
    Fifo,
    /// All items live equally long. The initial ones have random ages.
    Fixed,
    /// Lifetimes have a Pareto distribution of this shape: most are short, a few very long. The
    /// shape should be above 1; 1.5 has a mean but no variance. All items are new when the steps
    /// begin.
    HeavyTailed {
        /// The exponent of the tail: Pr(lifetime > t) = t^−shape for t ≥ 1.
        shape: f64,
    },
}

/// Chooses items to delete by number. The item inserted next takes over the number of the deleted
/// one.
#[derive(Clone, Debug)]
pub struct Victims {
    items: u64,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Memoryless,
    /// The next number, in the order of insertion.
    InOrder(u64),
    /// A permutation of the numbers, and the position of the next one.
    Shuffled(Vec<u32>, usize),
    /// The deletion time of each item, earliest first, and the shape. Times are positive floats
    /// stored as bits, which have the same order.
    ByDeath(BinaryHeap<Reverse<(u64, u32)>>, f64),
}

impl Victims {
    /// Items 0 to `items` − 1, all alive. `random` returns a fresh digest for each item.
    pub fn new(lifetimes: Lifetimes, items: u64, random: impl Fn(u64) -> Digest) -> Self {
        let state = match lifetimes {
            Lifetimes::Memoryless => State::Memoryless,
            Lifetimes::Fifo => State::InOrder(0),
            Lifetimes::Fixed => {
                let mut order: Vec<u32> = (0..items as u32).collect();
                for at in (1..items).rev() {
                    order.swap(at as usize, reduce(random(at).word(VICTIM, 0), at + 1) as usize);
                }
                State::Shuffled(order, 0)
            }
            Lifetimes::HeavyTailed { shape } => {
                let death = |item| Reverse((pareto(random(item), shape).to_bits(), item as u32));
                State::ByDeath((0..items).map(death).collect(), shape)
            }
        };
        Self { items, state }
    }

    /// The number of the item to delete now. `random` decides: the digest of its successor, or
    /// another one.
    #[inline]
    pub fn next(&mut self, random: Digest) -> usize {
        match &mut self.state {
            State::Memoryless => reduce(random.word(VICTIM, 0), self.items) as usize,
            State::InOrder(next) => {
                let number = *next;
                *next = (number + 1) % self.items;
                number as usize
            }
            State::Shuffled(order, next) => {
                let number = order[*next];
                *next = (*next + 1) % order.len();
                number as usize
            }
            State::ByDeath(deaths, shape) => {
                let mut first = deaths.peek_mut().expect("there are items");
                let Reverse((now, number)) = *first;
                let then = f64::from_bits(now) + pareto(random, *shape);
                *first = Reverse((then.to_bits(), number));
                number as usize
            }
        }
    }
}

/// A Pareto variable: at least 1, and above t with probability t^−shape.
fn pareto(random: Digest, shape: f64) -> f64 {
    // Uniform in (0, 1]: 53 bits, never 0.
    let uniform = ((random.word(VICTIM, 1) >> 11) + 1) as f64 / (1u64 << 53) as f64;
    libm::pow(uniform, -1.0 / shape)
}
