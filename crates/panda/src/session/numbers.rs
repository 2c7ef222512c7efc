//! Collective operations on arrays of numbers.

use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;

use parking_lot::Mutex;

use super::communicator::Communicator;
use super::lent::{Lent, lend};
use super::upcall::{self, Place};
use crate::error::Error;
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::collective::plan::Way;
use crate::protocol::collective::{Array, Numbers, Operation, Refused, Signature};
use antiphon_panda_core::number::{
    FUNCTION, Named, Number, Reduction, combine_wire, from_wire, to_wire,
};

/// Bytes of an array from which it goes in parts: below, what a round costs is more than what the bytes do. (A guess from what rounds and bytes cost over shared memory: the ways were not measured against each other.)
const LONG: usize = 16 << 10;

impl Communicator {
    /// Everybody's arrays combined number by number, into everybody's array: all have arrays of the same length, and get bitwise the same result, whatever the length.
    ///
    /// Places are counted round the list from that of the lowest rank. Of the first 2 (n − 2^⌊log₂ n⌋) places each second one is combined with the one before it; then neighbours are combined, then neighbouring pairs, and
    /// so on: ((0 ∘ 1) ∘ (2 ∘ 3)) of four, (((0 ∘ 1) ∘ 2) ∘ (3 ∘ 4)) of five. What is done with floating-point numbers depends on that order by the last bits, and on nothing else.
    ///
    /// Short arrays go by recursive doubling, long ones by recursive halving and back ([`plan`](crate::protocol::collective::plan)), by which a member of a power of two sends and receives no more than twice the array.
    /// An empty array is a barrier.
    ///
    /// # Errors
    /// As for [`barrier`](Self::barrier). [`Error::Mismatch`]: others have arrays of another length or type, or reduce them otherwise; it says which, at all. [`Error::NoSuchReduction`], before anything is sent. After an error
    /// the array has what was reached.
    #[track_caller]
    pub fn all_reduce_numbers<T: Number>(
        &self,
        numbers: &mut [T],
        by: Reduction,
    ) -> Result<(), Error> {
        self.reduced(None, numbers, &named::<T>(by)?)
    }

    /// Everybody's arrays combined number by number, into the root's array; what others' arrays have afterwards is not said. Places are counted from the root's, and combined as by
    /// [`all_reduce_numbers`](Self::all_reduce_numbers). Of short arrays a member whose part was only to send goes on before the root has ended.
    ///
    /// # Errors
    /// As for [`all_reduce_numbers`](Self::all_reduce_numbers); a mismatch at the root, and at those who wait.
    #[track_caller]
    pub fn reduce_numbers<T: Number>(
        &self,
        root: Rank,
        numbers: &mut [T],
        by: Reduction,
    ) -> Result<(), Error> {
        self.reduced(Some(root), numbers, &named::<T>(by)?)
    }

    /// The same as [`all_reduce_numbers`](Self::all_reduce_numbers) by a function of the program's: the first array becomes what both make together, the numbers of the first coming first. It must be associative, work number by
    /// number (it sees any parts of the arrays, of the same numbers of both), and be the same at all. It is run as an upcall is: on the thread that drives the session, and it must not wait.
    ///
    /// # Errors
    /// As for [`all_reduce_numbers`](Self::all_reduce_numbers). [`Error::Panicked`]: the function panicked, here or at another of them.
    #[track_caller]
    pub fn all_reduce_numbers_with<T: Number>(
        &self,
        numbers: &mut [T],
        combine: impl Fn(&mut [T], &[T]) + Send + 'static,
    ) -> Result<(), Error> {
        self.reduced(None, numbers, &function(combine))
    }

    /// The same as [`reduce_numbers`](Self::reduce_numbers) by a function of the program's, as [`all_reduce_numbers_with`](Self::all_reduce_numbers_with) takes it. Places are counted from the root's.
    ///
    /// # Errors
    /// As for [`reduce_numbers`](Self::reduce_numbers). [`Error::Panicked`]: the function panicked, here or at another of them.
    #[track_caller]
    pub fn reduce_numbers_with<T: Number>(
        &self,
        root: Rank,
        numbers: &mut [T],
        combine: impl Fn(&mut [T], &[T]) + Send + 'static,
    ) -> Result<(), Error> {
        self.reduced(Some(root), numbers, &function(combine))
    }

    #[track_caller]
    fn reduced<T: Number>(
        &self,
        root: Option<Rank>,
        numbers: &mut [T],
        by: &Arc<dyn Combines<T>>,
    ) -> Result<(), Error> {
        let root_rank = root.unwrap_or(self.turn());
        let (place, count) = self.place_from(root_rank)?;
        let signature = Signature {
            of: T::CODE,
            by: by.code(),
            length: numbers.len() as u64,
        };
        let way = Way {
            to_all: root.is_none(),
            in_parts: size_of_val(numbers) >= LONG,
        };
        lend(numbers, |lent| {
            let array = Arc::new(Reduced {
                lent: lent.clone(),
                by: by.clone(),
            });
            let numbers = Numbers {
                signature,
                size: size_of::<T>(),
                way,
                array: array.clone(),
            };
            let brought = array.part(numbers.brought(place, count));
            // It was lent a moment ago.
            let brought = brought.map_err(|_| Error::Over)?;
            self.run(root_rank, Operation::Numbers(numbers), brought)
                .map(drop)
        })
    }
}

/// What combines numbers.
trait Combines<T>: Send + Sync {
    /// It between processes.
    fn code(&self) -> u8;
    /// Combines numbers with others that came.
    fn combine(&self, into: &mut [T], came: &Message, others_first: bool) -> Result<(), Refused>;
}

fn named<T: Number>(by: Reduction) -> Result<Arc<dyn Combines<T>>, Error> {
    let named = T::named(by).ok_or(Error::NoSuchReduction { by, of: T::NAME })?;
    Ok(Arc::new(ByName { by, named }))
}

struct ByName<T> {
    by: Reduction,
    named: Named<T>,
}

impl<T: Number> Combines<T> for ByName<T> {
    fn code(&self) -> u8 {
        self.by.code()
    }

    fn combine(&self, into: &mut [T], came: &Message, others_first: bool) -> Result<(), Refused> {
        combine_wire(self.named, into, came, others_first);
        Ok(())
    }
}

#[track_caller]
fn function<T: Number>(call: impl Fn(&mut [T], &[T]) + Send + 'static) -> Arc<dyn Combines<T>> {
    Arc::new(ByFunction {
        place: Location::caller(),
        inner: Mutex::new((call, Vec::new())),
    })
}

struct ByFunction<F, T> {
    place: Place,
    /// The function, and room for what came, where it is aligned: used again in each round.
    inner: Mutex<(F, Vec<T>)>,
}

impl<T: Number, F: Fn(&mut [T], &[T]) + Send> Combines<T> for ByFunction<F, T> {
    fn code(&self) -> u8 {
        FUNCTION
    }

    fn combine(&self, into: &mut [T], came: &Message, others_first: bool) -> Result<(), Refused> {
        let (call, others) = &mut *self.inner.lock();
        others.resize(into.len(), T::zeroed());
        from_wire(came, others);
        let place = self.place;
        let run = || match others_first {
            false => call(into, others),
            true => {
                call(others, into);
                into.copy_from_slice(others);
            }
        };
        upcall::run(place, run)
            .map_err(|panic| Refused::Panicked(format!("given at {place} panicked: {panic}")))
    }
}

/// The caller's array in an operation.
struct Reduced<T> {
    lent: Arc<Lent<T>>,
    by: Arc<dyn Combines<T>>,
}

impl<T: Number> Array for Reduced<T> {
    fn part(&self, of: Range<usize>) -> Result<Message, Refused> {
        let part = self.lent.with(|array| to_wire(&array[of]));
        part.map(Message::from).ok_or(Refused::Over)
    }

    fn combine(
        &self,
        of: Range<usize>,
        others: &Message,
        others_first: bool,
    ) -> Result<(), Refused> {
        let combine = |array: &mut [T]| self.by.combine(&mut array[of], others, others_first);
        self.lent.with(combine).unwrap_or(Err(Refused::Over))
    }

    fn put(&self, of: Range<usize>, others: &Message) -> Result<(), Refused> {
        let put = |array: &mut [T]| from_wire(others, &mut array[of]);
        self.lent.with(put).ok_or(Refused::Over)
    }
}
