//! Types of arrays in the run-time: tables of operations over parts that only the tables know.

use std::any::Any;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, OnceLock};

use antiphon_panda::{DecodeError, Rank};
use parking_lot::Mutex;

use super::layout::Plan;
use super::site::halt;
use crate::error::Error;

/// The elements of one part.
pub type Part = dyn Any + Send + Sync;

/// Makes the elements of a part when its array begins.
pub type Beginning = dyn Fn(&Plan, usize) -> Arc<Part> + Send + Sync;
/// Encodes a part.
pub type EncodingPart = dyn Fn(&Part) -> Result<Vec<u8>, DecodeError> + Send + Sync;
/// Decodes a part.
pub type DecodingPart = dyn Fn(&[u8]) -> Result<Arc<Part>, DecodeError> + Send + Sync;
/// Makes a part of another plan from the elements of an array.
pub type Regrouping = dyn Fn(&Access<'_>, &Plan, usize) -> Arc<Part> + Send + Sync;
/// Returns the parts that the elements of a part read.
pub type Declaring = dyn Fn(&Plan, usize) -> BTreeSet<usize> + Send + Sync;
/// Returns the parts that the elements of a part read in a call with these arguments.
pub type DeclaringByCall =
    dyn Fn(&Plan, usize, &[u8]) -> Result<BTreeSet<usize>, DecodeError> + Send + Sync;
/// Runs an operation on all elements of some parts. Returns the outcome of each part, in their
/// order.
pub type RunningInParallel =
    dyn Fn(&mut Access<'_>, &[usize], &[u8]) -> Result<Vec<Ran>, DecodeError> + Send + Sync;
/// Runs an operation on the whole array. Returns the parts that it has changed, and its result.
pub type RunningAtOnce = dyn Fn(&Access<'_>, &[u8]) -> Result<(BTreeMap<usize, Arc<Part>>, Vec<u8>), DecodeError>
    + Send
    + Sync;

/// Functions for the parts of an array.
pub struct PartCodec {
    /// Makes a part.
    pub begin: Box<Beginning>,
    /// Encodes one.
    pub encode: Box<EncodingPart>,
    /// Decodes the output of `encode`.
    pub decode: Box<DecodingPart>,
    /// Makes a part when the array is distributed differently.
    pub regroup: Box<Regrouping>,
}

/// The outcome of an operation on one part.
pub struct Ran {
    /// The part as the operation leaves it; `None` if it only reads.
    pub written: Option<Arc<Part>>,
    /// The part's share of the result, encoded.
    pub result: Vec<u8>,
}

/// The elements that an operation reads beyond its own element, or its own part.
pub enum Reads {
    /// Nothing.
    Own,
    /// Any: owners exchange the whole array before.
    Whole,
    /// Those that a function declares, once a distribution. Owners send them before.
    Declared(Box<Declaring>),
    /// Those that a function declares from the arguments. Each machine fetches them before.
    DeclaredByCall(Box<DeclaringByCall>),
    /// Those that the first run after each distribution reads. Owners send them before later runs,
    /// which fetch any others.
    Recorded,
    /// Parts are fetched when they are read.
    OnDemand,
}

/// The body of an operation on an array.
pub enum ArrayBody {
    /// It runs once an element, on the owners.
    Parallel {
        /// The elements that it reads.
        reads: Reads,
        /// Runs the operation.
        run: Box<RunningInParallel>,
    },
    /// It runs once, on one machine.
    Sequential {
        /// [`Reads::OnDemand`]; anything else stands for [`Reads::Whole`].
        reads: Reads,
        /// It may change elements.
        writes: bool,
        /// Runs the operation.
        run: Box<RunningAtOnce>,
    },
}

/// An operation on an array.
pub struct ArrayOperation {
    /// Its name.
    pub name: String,
    /// Its body.
    pub body: ArrayBody,
}

/// A type of arrays: a name that is the same at all machines, and a table of operations.
pub struct ArrayType {
    /// Its name.
    pub name: String,
    /// The number of its dimensions.
    pub dimensions: usize,
    /// Functions for its parts.
    pub codec: PartCodec,
    /// Its operations.
    pub operations: Vec<ArrayOperation>,
}

/// The last use of an own part as it was before a parallel operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastUse {
    /// The number of own parts on which the operation has run by then.
    pub ran: usize,
    /// The part.
    pub part: usize,
}

/// An array during an operation: its parts as they were before the operation.
pub struct Access<'a> {
    plan: &'a Plan,
    machine: Rank,
    slots: Vec<OnceCell<Arc<Part>>>,
    /// The own parts that a parallel operation replaces, and when.
    last_uses: &'a [LastUse],
    /// The number of own parts on which it has run.
    ran: usize,
    /// Fetches a part from another machine.
    fetch: Box<dyn Fn(usize) -> Result<Arc<Part>, Error> + 'a>,
    failure: OnceCell<Error>,
}

impl<'a> Access<'a> {
    pub(super) fn new(
        (plan, machine): (&'a Plan, Rank),
        own: BTreeMap<usize, Arc<Part>>,
        last_uses: &'a [LastUse],
        fetch: impl Fn(usize) -> Result<Arc<Part>, Error> + 'a,
    ) -> Self {
        let mut slots: Vec<OnceCell<_>> = plan.blocks().iter().map(|_| OnceCell::new()).collect();
        for (part, elements) in own {
            slots[part] = OnceCell::from(elements);
        }
        Self {
            plan,
            machine,
            slots,
            last_uses,
            ran: 0,
            fetch: Box::new(fetch),
            failure: OnceCell::new(),
        }
    }

    /// Returns how many parts to run an operation on before [`ran`](Self::ran) is called.
    pub(super) fn batch(&self, parts: usize) -> usize {
        const BATCHES: usize = 64;
        match self.last_uses.is_empty() {
            true => parts.max(1),
            false => parts.div_ceil(BATCHES),
        }
    }

    /// Takes the outcomes of an operation on the next parts. Drops the old states of own parts that
    /// it reads no more, so that new ones are written into memory that is still in the cache.
    pub(super) fn ran(&mut self, ran: &[Ran]) {
        if ran.iter().any(|it| it.written.is_none()) {
            self.last_uses = &[];
        }
        self.ran += ran.len();
        while let Some((first, later)) = self.last_uses.split_first()
            && first.ran <= self.ran
        {
            drop(self.slots[first.part].take());
            self.last_uses = later;
        }
    }

    /// Replaces an own part by its new state.
    pub(super) fn replace(&mut self, part: usize, written: Arc<Part>) {
        self.slots[part] = OnceCell::from(written);
    }

    /// Takes an own part out.
    pub(super) fn take(&mut self, part: usize) -> Option<Arc<Part>> {
        self.slots[part].take()
    }

    /// Returns the array's plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        self.plan
    }

    /// Returns the machine on which the operation runs.
    #[must_use]
    pub fn machine(&self) -> Rank {
        self.machine
    }

    /// Returns a part, which may have to be fetched from another machine.
    ///
    /// # Panics
    /// There is no such part. If the part cannot be fetched, the operation is unwound.
    pub fn part(&self, part: usize) -> &Arc<Part> {
        match self.try_part(part) {
            Some(elements) => elements,
            None => halt(self.failure().unwrap_or(Error::Over)),
        }
    }

    /// Returns a part; `None` if it cannot be fetched. Then the operation must end without a
    /// result, and any error that it returns is replaced by the cause.
    ///
    /// # Panics
    /// There is no such part.
    pub fn try_part(&self, part: usize) -> Option<&Arc<Part>> {
        if let Some(elements) = self.slots[part].get() {
            return Some(elements);
        }
        match (self.fetch)(part) {
            Ok(elements) => Some(self.slots[part].get_or_init(|| elements)),
            Err(error) => {
                let _ = self.failure.set(error);
                None
            }
        }
    }

    /// Returns why a part could not be fetched, if that has happened.
    pub(super) fn failure(&self) -> Option<Error> {
        self.failure.get().cloned()
    }
}

/// An array type that the executable has, under its name.
pub struct RegisteredArrayType {
    /// Returns it.
    pub make: fn() -> ArrayType,
    /// Holds the type once it is made.
    pub made: &'static OnceLock<ArrayType>,
}

inventory::collect!(RegisteredArrayType);

impl RegisteredArrayType {
    /// Returns the type.
    #[must_use]
    pub fn get(&self) -> &'static ArrayType {
        self.made.get_or_init(self.make)
    }
}

/// All types of arrays, with those of macros from the start.
static TYPES: LazyLock<Mutex<BTreeMap<String, &'static ArrayType>>> = LazyLock::new(|| {
    let mut found = BTreeMap::new();
    for registered in inventory::iter::<RegisteredArrayType> {
        let array_type = registered.get();
        let before = found.insert(array_type.name.clone(), array_type);
        let name = &array_type.name;
        assert!(
            before.is_none(),
            "two types of arrays are named {name}: rename one"
        );
    }
    Mutex::new(found)
});

/// Registers a type of arrays until the process ends. All machines register the same types under
/// the same names.
///
/// # Errors
/// Another type has this name. The error is the type.
pub fn register_array(array_type: ArrayType) -> Result<&'static ArrayType, ArrayType> {
    let mut types = TYPES.lock();
    if types.contains_key(&array_type.name) {
        return Err(array_type);
    }
    let array_type: &'static ArrayType = Box::leak(Box::new(array_type));
    types.insert(array_type.name.clone(), array_type);
    Ok(array_type)
}

/// Returns the type of arrays of a name.
pub(crate) fn find_array(name: &str) -> Option<&'static ArrayType> {
    TYPES.lock().get(name).copied()
}

/// Returns the names of all types of arrays.
pub(crate) fn array_names() -> Vec<String> {
    TYPES.lock().keys().cloned().collect()
}
