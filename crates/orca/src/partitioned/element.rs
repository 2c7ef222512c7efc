//! Arrays of Rust values, and the views of them in operations.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Index, IndexMut};
use std::sync::Arc;

use antiphon_panda::message::value_in;
use antiphon_panda::{DecodeError, Rank};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::invocation::{Array, Returned};
use super::kind::{
    Access, ArrayBody, ArrayOperation, ArrayType, Part, PartCodec, Ran, Reads, Regrouping,
};
use super::layout::{Distribution, MOST_DIMENSIONS, Plan, WideIndex};
use crate::error::Error;
use crate::object::encode;
use crate::process::Orca;

/// A type whose values can be the elements of a partitioned array of `D` dimensions.
/// [`elements`](macro@crate::elements) implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of elements of an array of {D} dimensions",
    label = "mark its impl block with #[orca::elements({D})]"
)]
pub trait Element<const D: usize>: Value {
    /// The type that has the operations as methods.
    type Proxy: From<Array> + AsRef<Array> + Send + Sync + 'static;
    /// Returns the table of operations.
    fn array_type() -> &'static ArrayType;
}

/// A value that can go to another machine.
pub trait Value: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {}

impl<T: Serialize + DeserializeOwned + Clone + Send + Sync + 'static> Value for T {}

/// An array whose elements live on the machines that own its parts. Operations are called on it as
/// methods. They return the operation's result, or why it could not be executed. Clones share the
/// array. It can be an argument of a process.
pub struct Partitioned<T: Element<D>, const D: usize> {
    proxy: T::Proxy,
    of: PhantomData<fn() -> T>,
}

impl Orca {
    /// Creates an array of a shape. Its elements are initialized by their type, or to default
    /// values.
    ///
    /// # Errors
    /// The distribution does not fit the shape; it names a missing machine; the program is over
    /// here.
    pub fn create_partitioned<T: Element<D>, const D: usize>(
        &self,
        shape: [usize; D],
        how: &Distribution,
    ) -> Result<Partitioned<T, D>, Error> {
        self.create_array_raw(T::array_type(), &shape, how)
            .map(Partitioned::of)
    }
}

impl<T: Element<D>, const D: usize> Partitioned<T, D> {
    fn of(array: Array) -> Self {
        Self {
            proxy: array.into(),
            of: PhantomData,
        }
    }

    fn array(&self) -> &Array {
        self.proxy.as_ref()
    }

    /// Moves parts to other machines, or divides the array differently. Elements keep their values.
    ///
    /// # Errors
    /// The distribution does not fit the array; it names a missing machine; the array is lost.
    pub fn distribute(&self, how: &Distribution) -> Result<(), Error> {
        self.array().distribute(how, true)
    }

    /// Distributes the array, and initializes all elements again.
    ///
    /// # Errors
    /// As [`distribute`](Self::distribute).
    pub fn distribute_anew(&self, how: &Distribution) -> Result<(), Error> {
        self.array().distribute(how, false)
    }

    /// Returns the owner of each part, as far as this machine knows.
    ///
    /// # Errors
    /// The program is over here.
    pub fn owners(&self) -> Result<Vec<Rank>, Error> {
        Ok(self.array().plan()?.layout.owners.clone())
    }

    /// Returns the array's number, the same at all machines.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.array().id()
    }
}

impl<T: Element<D>, const D: usize> Deref for Partitioned<T, D> {
    type Target = T::Proxy;

    fn deref(&self) -> &T::Proxy {
        &self.proxy
    }
}

impl<T: Element<D>, const D: usize> Clone for Partitioned<T, D> {
    fn clone(&self) -> Self {
        Self::of(self.array().clone())
    }
}

impl<T: Element<D>, const D: usize> fmt::Debug for Partitioned<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.array().fmt(f)
    }
}

impl<T: Element<D>, const D: usize> Serialize for Partitioned<T, D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.array().serialize(serializer)
    }
}

impl<'de, T: Element<D>, const D: usize> Deserialize<'de> for Partitioned<T, D> {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        let array = Array::deserialize(deserializer)?;
        let plan = array.plan().map_err(De::Error::custom)?;
        let (is, wanted) = (&plan.layout.array_type, &T::array_type().name);
        match is == wanted {
            true => Ok(Self::of(array)),
            false => Err(De::Error::custom(format!(
                "an array of {is} is none of {wanted}"
            ))),
        }
    }
}

fn wide<const D: usize>(index: [usize; D]) -> WideIndex {
    let mut wide = [0; MOST_DIMENSIONS];
    wide[..D].copy_from_slice(&index);
    wide
}

fn narrow<const D: usize>(index: &[usize]) -> [usize; D] {
    std::array::from_fn(|at| index[at])
}

/// The elements of an array, by part, as far as they have been read.
struct Elements<'a, T> {
    access: &'a Access<'a>,
    slices: Vec<Cell<Option<&'a [T]>>>,
}

impl<'a, T: Value> Elements<'a, T> {
    fn of(access: &'a Access<'a>) -> Self {
        let slices = access.plan().blocks().iter().map(|_| Cell::new(None));
        Self {
            access,
            slices: slices.collect(),
        }
    }

    #[inline]
    fn part(&self, part: usize) -> &'a [T] {
        match self.slices[part].get() {
            Some(slice) => slice,
            None => self.load(part),
        }
    }

    #[cold]
    fn load(&self, part: usize) -> &'a [T] {
        let slice = elements_of(self.access, part);
        self.slices[part].set(Some(slice));
        slice
    }

    #[inline]
    fn find(&self, index: WideIndex) -> Option<&'a T> {
        let (part, place) = self.access.plan().find(index)?;
        self.part(part).get(place)
    }
}

fn elements_of<'a, T: Value>(access: &'a Access<'_>, part: usize) -> &'a [T] {
    let elements = access.part(part).downcast_ref::<Vec<T>>();
    elements.expect("the parts of this type")
}

/// An array in a parallel operation: all elements as they were before the operation.
pub struct View<'a, T, const D: usize> {
    elements: Elements<'a, T>,
    at: Cell<[usize; D]>,
}

impl<'a, T: Value, const D: usize> View<'a, T, D> {
    fn of(access: &'a Access<'a>) -> Self {
        Self {
            elements: Elements::of(access),
            at: Cell::new([0; D]),
        }
    }

    /// Returns the index of the element that the operation runs on.
    #[inline]
    #[must_use]
    pub fn at(&self) -> [usize; D] {
        self.at.get()
    }

    /// Returns the array's lengths.
    #[must_use]
    pub fn shape(&self) -> [usize; D] {
        narrow(self.elements.access.plan().lengths())
    }

    /// Returns an element as it was before; `None` outside of the array.
    #[inline]
    #[must_use]
    pub fn get(&self, index: [usize; D]) -> Option<&T> {
        self.elements.find(wide(index))
    }
}

/// Refuses an index.
#[cold]
#[track_caller]
fn outside(index: &[usize], access: &Access<'_>) -> ! {
    panic!(
        "{index:?} is outside of the array, which has {:?}",
        access.plan().lengths()
    )
}

impl<T: Value, const D: usize> Index<[usize; D]> for View<'_, T, D> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; D]) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => outside(&index, self.elements.access),
        }
    }
}

/// An array in a sequential operation, which may change any element.
pub struct Whole<'a, T, const D: usize> {
    elements: Elements<'a, T>,
    changed: BTreeMap<usize, Vec<T>>,
}

impl<'a, T: Value, const D: usize> Whole<'a, T, D> {
    fn of(access: &'a Access<'a>) -> Self {
        Self {
            elements: Elements::of(access),
            changed: BTreeMap::new(),
        }
    }

    /// Returns the array's lengths.
    #[must_use]
    pub fn shape(&self) -> [usize; D] {
        narrow(self.elements.access.plan().lengths())
    }

    /// Returns all indices, the last dimension's first.
    pub fn indices(&self) -> impl Iterator<Item = [usize; D]> + use<T, D> {
        indices_of(self.shape())
    }

    /// Returns an element; `None` outside of the array.
    #[must_use]
    pub fn get(&self, index: [usize; D]) -> Option<&T> {
        let (part, place) = self.elements.access.plan().find(wide(index))?;
        match self.changed.get(&part) {
            Some(changed) => changed.get(place),
            None => self.elements.part(part).get(place),
        }
    }
}

impl<T: Value, const D: usize> Index<[usize; D]> for Whole<'_, T, D> {
    type Output = T;

    #[track_caller]
    fn index(&self, index: [usize; D]) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => outside(&index, self.elements.access),
        }
    }
}

impl<T: Value, const D: usize> IndexMut<[usize; D]> for Whole<'_, T, D> {
    #[track_caller]
    fn index_mut(&mut self, index: [usize; D]) -> &mut T {
        let Self { elements, changed } = self;
        let Some((part, place)) = elements.access.plan().find(wide(index)) else {
            outside(&index, elements.access)
        };
        let changed = changed.entry(part);
        &mut changed.or_insert_with(|| elements.part(part).to_vec())[place]
    }
}

fn indices_of<const D: usize>(shape: [usize; D]) -> impl Iterator<Item = [usize; D]> {
    (0..shape.iter().product::<usize>()).map(move |mut number| {
        let mut index = [0; D];
        for at in (0..D).rev() {
            index[at] = number % shape[at];
            number /= shape[at];
        }
        index
    })
}

/// The results of a parallel operation, one an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gathered<R, const D: usize> {
    shape: [usize; D],
    values: Vec<R>,
}

impl<R, const D: usize> Gathered<R, D> {
    /// Returns the array's lengths.
    #[must_use]
    pub fn shape(&self) -> [usize; D] {
        self.shape
    }

    /// Returns the results, the last dimension's first.
    #[must_use]
    pub fn values(&self) -> &[R] {
        &self.values
    }

    /// Returns the results, the last dimension's first.
    #[must_use]
    pub fn into_values(self) -> Vec<R> {
        self.values
    }
}

impl<R, const D: usize> Index<[usize; D]> for Gathered<R, D> {
    type Output = R;

    #[track_caller]
    fn index(&self, index: [usize; D]) -> &R {
        let within = index
            .iter()
            .zip(&self.shape)
            .all(|(at, length)| at < length);
        assert!(within, "{index:?} is outside of {:?}", self.shape);
        let place = index
            .iter()
            .zip(&self.shape)
            .fold(0, |all, (at, length)| all * length + at);
        &self.values[place]
    }
}

/// How to combine the results of all elements.
pub enum Collect<R> {
    /// There are none.
    Nothing,
    /// One an element.
    Gather,
    /// Combines two at a time, until one is left.
    Reduce(fn(R, R) -> R),
}

impl<R: Serialize> Collect<R> {
    /// Returns a part's share.
    fn share(&self, results: impl Iterator<Item = R>) -> Result<Vec<u8>, DecodeError> {
        match self {
            Self::Nothing => {
                results.for_each(drop);
                Ok(Vec::new())
            }
            Self::Gather => encode(&results.collect::<Vec<_>>()),
            Self::Reduce(combine) => match results.reduce(combine) {
                Some(result) => encode(&result),
                None => Ok(Vec::new()),
            },
        }
    }
}

/// Makes a parallel operation that may write its element.
pub fn parallel_writes<T: Value, const D: usize, A: DeserializeOwned, R: Serialize + 'static>(
    name: &str,
    reads: Reads,
    collect: Collect<R>,
    body: impl Fn(&mut T, &View<'_, T, D>, &A) -> R + Send + Sync + 'static,
) -> ArrayOperation {
    parallel(
        name,
        reads,
        move |view: &View<'_, T, D>, part, arguments: &A| {
            let mut written = view.elements.part(part).to_vec();
            let indices = view.elements.access.plan().blocks()[part].indices();
            let run = |(index, element): (WideIndex, &mut T)| {
                view.at.set(narrow(&index));
                body(element, view, arguments)
            };
            let result = collect.share(indices.zip(&mut written).map(run))?;
            Ok(Ran {
                written: Some(Arc::new(written)),
                result,
            })
        },
    )
}

/// Makes a parallel operation that only reads.
pub fn parallel_reads<T: Value, const D: usize, A: DeserializeOwned, R: Serialize + 'static>(
    name: &str,
    reads: Reads,
    collect: Collect<R>,
    body: impl Fn(&T, &View<'_, T, D>, &A) -> R + Send + Sync + 'static,
) -> ArrayOperation {
    parallel(
        name,
        reads,
        move |view: &View<'_, T, D>, part, arguments: &A| {
            let indices = view.elements.access.plan().blocks()[part].indices();
            let run = |(index, element): (WideIndex, &T)| {
                view.at.set(narrow(&index));
                body(element, view, arguments)
            };
            let result = collect.share(indices.zip(view.elements.part(part)).map(run))?;
            Ok(Ran {
                written: None,
                result,
            })
        },
    )
}

fn parallel<T: Value, const D: usize, A: DeserializeOwned>(
    name: &str,
    reads: Reads,
    of_part: impl Fn(&View<'_, T, D>, usize, &A) -> Result<Ran, DecodeError> + Send + Sync + 'static,
) -> ArrayOperation {
    let run = move |access: &mut Access<'_>, parts: &[usize], arguments: &[u8]| {
        let arguments: A = value_in(arguments)?;
        let mut all = Vec::with_capacity(parts.len());
        for batch in parts.chunks(access.batch(parts.len())) {
            let view = View::of(access);
            let ran = batch.iter().map(|part| of_part(&view, *part, &arguments));
            let ran = ran.collect::<Result<Vec<_>, _>>()?;
            access.ran(&ran);
            all.extend(ran);
        }
        Ok(all)
    };
    ArrayOperation {
        name: name.into(),
        body: ArrayBody::Parallel {
            reads,
            run: Box::new(run),
        },
    }
}

/// Makes a sequential operation that may write.
pub fn sequential_writes<T: Value, const D: usize, A: DeserializeOwned, R: Serialize>(
    name: &str,
    reads: Reads,
    body: impl Fn(&mut Whole<'_, T, D>, A) -> R + Send + Sync + 'static,
) -> ArrayOperation {
    let run = move |access: &Access<'_>, arguments: &[u8]| {
        let mut whole = Whole::of(access);
        let result = encode(&body(&mut whole, value_in(arguments)?))?;
        let changed = whole.changed.into_iter();
        let changed = changed.map(|(part, elements)| (part, Arc::new(elements) as Arc<Part>));
        Ok((changed.collect(), result))
    };
    ArrayOperation {
        name: name.into(),
        body: ArrayBody::Sequential {
            reads,
            writes: true,
            run: Box::new(run),
        },
    }
}

/// Makes a sequential operation that only reads.
pub fn sequential_reads<T: Value, const D: usize, A: DeserializeOwned, R: Serialize>(
    name: &str,
    reads: Reads,
    body: impl Fn(&Whole<'_, T, D>, A) -> R + Send + Sync + 'static,
) -> ArrayOperation {
    let run = move |access: &Access<'_>, arguments: &[u8]| {
        let whole = Whole::of(access);
        let result = encode(&body(&whole, value_in(arguments)?))?;
        Ok((BTreeMap::new(), result))
    };
    ArrayOperation {
        name: name.into(),
        body: ArrayBody::Sequential {
            reads,
            writes: false,
            run: Box::new(run),
        },
    }
}

/// Returns the elements that a function declares for each element.
pub fn declared<const D: usize, I: IntoIterator<Item = [usize; D]>>(
    declare: impl Fn([usize; D], [usize; D]) -> I + Send + Sync + 'static,
) -> Reads {
    Reads::Declared(Box::new(move |plan, part| parts_read(plan, part, &declare)))
}

/// Returns the elements that a function declares for each element and the arguments.
pub fn declared_by_call<const D: usize, A, I>(
    declare: impl Fn([usize; D], [usize; D], &A) -> I + Send + Sync + 'static,
) -> Reads
where
    A: DeserializeOwned,
    I: IntoIterator<Item = [usize; D]>,
{
    Reads::DeclaredByCall(Box::new(move |plan, part, arguments| {
        let arguments = value_in(arguments)?;
        Ok(parts_read(plan, part, |at, shape| {
            declare(at, shape, &arguments)
        }))
    }))
}

fn parts_read<const D: usize, I: IntoIterator<Item = [usize; D]>>(
    plan: &Plan,
    part: usize,
    declare: impl Fn([usize; D], [usize; D]) -> I,
) -> BTreeSet<usize> {
    let shape = narrow(plan.lengths());
    let indices = plan.blocks()[part].indices();
    let read = indices.flat_map(|at| declare(narrow(&at), shape));
    plan.parts_of(read.map(wide))
}

/// Initializes elements from their indices and the shape of their array.
pub fn beginning<T: Value, const D: usize>(
    make: impl Fn([usize; D], [usize; D]) -> T + Send + Sync + 'static,
) -> Box<super::Beginning> {
    Box::new(move |plan, part| {
        let shape = narrow(plan.lengths());
        let indices = plan.blocks()[part].indices();
        Arc::new(
            indices
                .map(|at| make(narrow(&at), shape))
                .collect::<Vec<T>>(),
        )
    })
}

/// Makes the type of arrays of a type of elements.
pub fn array_type<T: Value, const D: usize>(
    name: &str,
    begin: Box<super::Beginning>,
    operations: Vec<ArrayOperation>,
) -> ArrayType {
    let encode_part = |part: &Part| {
        let elements = part.downcast_ref::<Vec<T>>();
        encode(elements.expect("a part of this type"))
    };
    ArrayType {
        name: name.into(),
        dimensions: D,
        codec: PartCodec {
            begin,
            encode: Box::new(encode_part),
            decode: Box::new(|bytes| Ok(Arc::new(value_in::<Vec<T>>(bytes)?))),
            regroup: regrouping::<T>(),
        },
        operations,
    }
}

fn regrouping<T: Value>() -> Box<Regrouping> {
    Box::new(|access, plan, part| {
        let elements = Elements::<T>::of(access);
        let indices = plan.blocks()[part].indices();
        let of = |index| {
            elements
                .find(index)
                .expect("both plans are of one array")
                .clone()
        };
        Arc::new(indices.map(of).collect::<Vec<T>>())
    })
}

/// Records that an operation has ended.
///
/// # Errors
/// None.
pub fn nothing(returned: &Returned) -> Result<(), Error> {
    let _ = returned;
    Ok(())
}

/// Returns the result of a sequential operation.
///
/// # Errors
/// The result is of another type.
pub fn sequential<R: DeserializeOwned>(returned: &Returned) -> Result<R, Error> {
    let first = returned.1.first().ok_or(Error::Over)?;
    Ok(value_in(&first.1)?)
}

/// Combines the results of all parts, in their order.
///
/// # Errors
/// The results are of another type.
pub fn reduce<R: DeserializeOwned>(
    returned: &Returned,
    combine: fn(R, R) -> R,
) -> Result<R, Error> {
    let mut all = None;
    for (_, result) in &returned.1 {
        let next = value_in(result)?;
        all = Some(match all {
            None => next,
            Some(before) => combine(before, next),
        });
    }
    all.ok_or(Error::Over)
}

/// Returns the results of all elements.
///
/// # Errors
/// The results are of another type.
pub fn gather<R: DeserializeOwned, const D: usize>(
    returned: &Returned,
) -> Result<Gathered<R, D>, Error> {
    let (plan, results) = returned;
    let mut by_part = Vec::new();
    for (_, result) in results {
        by_part.push(value_in::<Vec<R>>(result)?.into_iter());
    }
    let shape = narrow(plan.lengths());
    let next = |index| {
        // Within a part the order is that of the whole array.
        let (part, _) = plan.find(wide(index))?;
        by_part.get_mut(part)?.next()
    };
    let values: Option<Vec<R>> = indices_of(shape).map(next).collect();
    let values = values.ok_or_else(|| Error::Decode("results of elements are missing".into()))?;
    Ok(Gathered { shape, values })
}
