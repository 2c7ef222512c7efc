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

/// Length in bytes from which an array goes in parts. Below it a round costs more than its bytes.
/// The value is an estimate from the costs of rounds and bytes over shared memory.
const LONG: usize = 16 << 10;

impl Communicator {
    /// Combines all arrays number by number, and leaves the result in every array.
    ///
    /// All arrays have the same length. All processes get bitwise the same result, whatever the
    /// length.
    ///
    /// Places are counted round the list from that of the lowest rank. Let n be their number. In
    /// the first 2 (n − 2^⌊log₂ n⌋) places, each second place is combined with the one before it.
    /// Then neighbours are combined, then neighbouring pairs, and so on:
    ///
    /// ```text
    /// four:  ((0 ∘ 1) ∘ (2 ∘ 3))
    /// five:  (((0 ∘ 1) ∘ 2) ∘ (3 ∘ 4))
    /// ```
    ///
    /// The last bits of floating-point results depend on that order, and on nothing else.
    ///
    /// Short arrays go by recursive doubling, long ones by recursive halving and doubling
    /// ([`plan`](crate::protocol::collective::plan)). With the latter, in a list of a power of two,
    /// a process sends and receives at most twice the array. An empty array is a barrier.
    ///
    /// # Errors
    ///
    /// As for [`barrier`](Self::barrier). [`Error::Mismatch`], at all processes: others have arrays
    /// of another length or type, or another reduction; the error says which.
    /// [`Error::NoSuchReduction`], before anything is sent. After an error the array holds
    /// intermediate values.
    #[track_caller]
    pub fn all_reduce_numbers<T: Number>(
        &self,
        numbers: &mut [T],
        by: Reduction,
    ) -> Result<(), Error> {
        self.reduced(None, numbers, &named::<T>(by)?)
    }

    /// Combines all arrays number by number, and leaves the result in the root's array.
    ///
    /// The contents of the other arrays are then unspecified. Places are counted from the root's,
    /// and combined as by [`all_reduce_numbers`](Self::all_reduce_numbers). With short arrays, a
    /// process whose part is only to send returns before the root has ended.
    ///
    /// # Errors
    ///
    /// As for [`all_reduce_numbers`](Self::all_reduce_numbers). A mismatch is reported at the root
    /// and at the processes that wait.
    #[track_caller]
    pub fn reduce_numbers<T: Number>(
        &self,
        root: Rank,
        numbers: &mut [T],
        by: Reduction,
    ) -> Result<(), Error> {
        self.reduced(Some(root), numbers, &named::<T>(by)?)
    }

    /// Does the same as [`all_reduce_numbers`](Self::all_reduce_numbers), with a function of the
    /// program.
    ///
    /// `combine` replaces its first array by the combination of both; the numbers of the first come
    /// first. It must be associative, work number by number, and be the same at all processes. It
    /// sees any parts of the arrays, the same part of both. It runs as an upcall: on the thread
    /// that drives the session, and it must not block.
    ///
    /// # Errors
    ///
    /// As for [`all_reduce_numbers`](Self::all_reduce_numbers). [`Error::Panicked`]: the function
    /// panicked, here or at another process.
    #[track_caller]
    pub fn all_reduce_numbers_with<T: Number>(
        &self,
        numbers: &mut [T],
        combine: impl Fn(&mut [T], &[T]) + Send + 'static,
    ) -> Result<(), Error> {
        self.reduced(None, numbers, &function(combine))
    }

    /// Does the same as [`reduce_numbers`](Self::reduce_numbers), with a function as in
    /// [`all_reduce_numbers_with`](Self::all_reduce_numbers_with). Places are counted from the
    /// root's.
    ///
    /// # Errors
    ///
    /// As for [`reduce_numbers`](Self::reduce_numbers). [`Error::Panicked`]: the function panicked,
    /// here or at another process.
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
            // The array was lent a moment ago, so it is still there.
            let brought = brought.map_err(|_| Error::Over)?;
            self.run(root_rank, Operation::Numbers(numbers), brought)
                .map(drop)
        })
    }
}

/// A way to combine numbers.
trait Combines<T>: Send + Sync {
    /// Returns the code by which processes compare their reductions.
    fn code(&self) -> u8;
    /// Combines numbers with those of a message.
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
    /// The function, and an aligned buffer for received numbers, reused in each round.
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
