//! Arrays of numbers that simulated processes bring to collective operations.

use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;

use antiphon_panda_core::message::Message;
use antiphon_panda_core::number::{Reduction, from_wire, to_wire};
use antiphon_panda_core::protocol::collective::plan::Way;
use antiphon_panda_core::protocol::collective::{Array, Numbers, Operation, Refused, Signature};

/// A process's array.
pub struct Held {
    numbers: Mutex<Vec<u64>>,
}

impl Held {
    /// Makes an array of so many numbers, each larger by one.
    pub fn new(first: u64, length: usize) -> Arc<Self> {
        let numbers = (0..length as u64).map(|at| first + at).collect();
        let numbers = Mutex::new(numbers);
        Arc::new(Self { numbers })
    }

    /// Returns the operation that adds arrays, and the message that is brought to it.
    pub fn sum(self: &Arc<Self>, way: Way, place: usize, count: usize) -> (Operation, Message) {
        let length = self.numbers.lock().len() as u64;
        let numbers = Numbers {
            signature: Signature {
                of: 8,
                by: Reduction::Sum.code(),
                length,
            },
            size: size_of::<u64>(),
            way,
            array: self.clone(),
        };
        let brought = self.copy(numbers.brought(place, count));
        (Operation::Numbers(numbers), brought)
    }

    fn copy(&self, of: Range<usize>) -> Message {
        to_wire(&self.numbers.lock()[of]).into()
    }

    /// Returns the first number, if each is larger by `step` than the one before it.
    pub fn first(&self, step: usize) -> Option<u64> {
        let numbers = self.numbers.lock();
        let is_even = |pair: &[u64]| pair[1] == pair[0] + step as u64;
        let first = numbers.first().copied();
        first.filter(|_| numbers.windows(2).all(is_even))
    }
}

impl Array for Held {
    fn part(&self, of: Range<usize>) -> Result<Message, Refused> {
        Ok(self.copy(of))
    }

    fn combine(&self, of: Range<usize>, others: &Message, _: bool) -> Result<(), Refused> {
        let mut came = vec![0; of.len()];
        from_wire(others, &mut came);
        let mut numbers = self.numbers.lock();
        let pairs = numbers[of].iter_mut().zip(came);
        pairs.for_each(|(own, other)| *own += other);
        Ok(())
    }

    fn put(&self, of: Range<usize>, others: &Message) -> Result<(), Refused> {
        from_wire(others, &mut self.numbers.lock()[of]);
        Ok(())
    }
}
