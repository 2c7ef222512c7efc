//! Object types in the run-time: tables of operations over states that only the tables know.

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{LazyLock, OnceLock};

use antiphon_panda::message::value_in;
use antiphon_panda::{DecodeError, Message};
use parking_lot::Mutex;
use serde::Serialize;

use crate::fault::{Fault, Mutant};
use crate::shared::StateOf;

/// The state of an object.
pub type State = dyn Any + Send + Sync;

/// An alternative that only reads, as a function of a state and encoded arguments.
pub type Reading = dyn Fn(&State, &[u8]) -> Result<Step, DecodeError> + Send + Sync;
/// An alternative that may write.
pub type Writing = dyn Fn(&mut State, &[u8]) -> Result<Step, DecodeError> + Send + Sync;
/// Encodes a state.
pub type Encoding = dyn Fn(&State) -> Result<Vec<u8>, DecodeError> + Send + Sync;
/// Decodes a state.
pub type Decoding = dyn Fn(&[u8]) -> Result<Box<State>, DecodeError> + Send + Sync;
/// Copies a state.
pub type Copying = dyn Fn(&State) -> Box<State> + Send + Sync;

/// The outcome of one alternative of an operation.
#[derive(Debug)]
pub enum Step {
    /// It ran. Its result, encoded.
    Done(Vec<u8>),
    /// Its guard is false.
    Closed,
    /// Its body blocked, and may have changed the state before.
    Blocked,
}

/// The body of an alternative: a function of a state and encoded arguments.
pub enum Body {
    /// It only reads.
    Reads(Box<Reading>),
    /// It may write.
    Writes(Box<Writing>),
}

/// One alternative of an operation: a guard and a body.
pub struct Alternative {
    /// The guard in the program's words; `None` if the alternative has none.
    pub guard: Option<String>,
    /// The body.
    pub body: Body,
    /// Whether the alternative may begin and then not complete, as when it blocks on a nested object.
    /// If it writes, the run-time copies the state first.
    pub may_undo: bool,
}

/// An operation of an object type.
pub struct Operation {
    /// Its name.
    pub name: String,
    /// Its alternatives.
    pub alternatives: Vec<Alternative>,
    /// The operation has a result. A write without result and guard need not be waited for.
    pub has_result: bool,
    /// The operation reads clocks, draws random numbers, or does input or output.
    pub does_io: bool,
}

/// Functions that encode, decode and copy states.
pub struct Codec {
    /// Encodes a state.
    pub encode: Box<Encoding>,
    /// Decodes the output of `encode`.
    pub decode: Box<Decoding>,
    /// Copies a state.
    pub copy: Box<Copying>,
}

/// An object type: a name that is the same at all machines, and a table of operations.
pub struct ObjectType {
    name: String,
    codec: Codec,
    operations: Vec<Operation>,
    does_io: bool,
}

/// The outcome of an operation.
#[derive(Debug)]
pub(crate) enum Attempt {
    Done {
        result: Vec<u8>,
        has_written: bool,
    },
    /// No alternative completed. The state is as it was.
    Blocked,
    /// It panicked, with this message.
    Failed(String),
}

/// The payload that unwinds an operation when its nested object blocks.
struct Unwound;

thread_local! {
    /// The number of operations that this thread is in, one within another.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

impl Operation {
    /// Returns whether none of its alternatives writes.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        let mut bodies = self.alternatives.iter().map(|it| &it.body);
        bodies.all(|body| matches!(body, Body::Reads(_)))
    }

    /// Returns whether it writes, never blocks and has no result, so that no caller needs to wait.
    #[must_use]
    pub fn is_pure_write(&self) -> bool {
        let [only] = &self.alternatives[..] else {
            return false;
        };
        let never_blocks = only.guard.is_none() && !only.may_undo;
        matches!(only.body, Body::Writes(_)) && never_blocks && !self.has_result
    }

    /// Returns whether it may block.
    #[must_use]
    pub fn may_block(&self) -> bool {
        let mut alternatives = self.alternatives.iter();
        alternatives.any(|it| it.guard.is_some() || it.may_undo)
    }

    /// Returns its guards in words, for reports.
    #[must_use]
    pub fn guards(&self) -> String {
        let guards = self.alternatives.iter().filter_map(|it| it.guard.clone());
        let guards: Vec<_> = guards.collect();
        match guards.is_empty() {
            true => "a nested object".into(),
            false => guards.join(" or "),
        }
    }
}

impl ObjectType {
    /// Makes a type. Alternatives that read are tried before those that write, each kind in its
    /// order.
    ///
    /// # Panics
    /// An operation has no alternative.
    #[must_use]
    pub fn new(name: impl Into<String>, codec: Codec, mut operations: Vec<Operation>) -> Self {
        for operation in &mut operations {
            assert!(
                !operation.alternatives.is_empty(),
                "operation {} has no alternative",
                operation.name
            );
            let writes = |it: &Alternative| matches!(it.body, Body::Writes(_));
            operation.alternatives.sort_by_key(writes);
        }
        Self {
            does_io: operations.iter().any(|operation| operation.does_io),
            name: name.into(),
            codec,
            operations,
        }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its operations.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns whether an operation of it does input or output. Such objects have one copy.
    #[must_use]
    pub fn does_io(&self) -> bool {
        self.does_io
    }

    pub(crate) fn encode(&self, state: &State) -> Result<Vec<u8>, DecodeError> {
        (self.codec.encode)(state)
    }

    pub(crate) fn decode(&self, bytes: &[u8]) -> Result<Box<State>, DecodeError> {
        (self.codec.decode)(bytes)
    }

    /// Tries the alternatives that only read.
    pub(crate) fn attempt_reads(&self, operation: usize, state: &State, bytes: &[u8]) -> Attempt {
        for alternative in &self.operations[operation].alternatives {
            if let Body::Reads(body) = &alternative.body {
                match caught(|| body(state, bytes)) {
                    Ok(Step::Done(result)) => {
                        return Attempt::Done {
                            result,
                            has_written: false,
                        };
                    }
                    Ok(Step::Closed | Step::Blocked) => {}
                    Err(why) => return Attempt::Failed(why),
                }
            }
        }
        Attempt::Blocked
    }

    /// Tries all alternatives in turn. One that does not complete leaves no trace.
    pub(crate) fn attempt(
        &self,
        operation: usize,
        state: &mut Box<State>,
        bytes: &[u8],
        fault: Fault,
    ) -> Attempt {
        let operation = &self.operations[operation];
        for alternative in &operation.alternatives {
            let writes = matches!(alternative.body, Body::Writes(_));
            let may_undo = writes && alternative.may_undo;
            let before = may_undo.then(|| (self.codec.copy)(&**state));
            let (step, has_written) = match &alternative.body {
                Body::Reads(body) => (caught(|| body(&**state, bytes)), false),
                Body::Writes(body) => (caught(|| body(&mut **state, bytes)), true),
            };
            match step {
                Ok(Step::Done(result)) => {
                    return Attempt::Done {
                        result,
                        has_written,
                    };
                }
                Err(why) => return Attempt::Failed(why),
                Ok(Step::Blocked) if has_written && before.is_none() => {
                    return Attempt::Failed(format!(
                        "it blocked within, and no field of {} is marked #[nested]",
                        self.name
                    ));
                }
                Ok(step @ (Step::Closed | Step::Blocked)) => {
                    if let Some(before) = before.filter(|_| !fault.is(Mutant::KeepsPartialWrite)) {
                        *state = before;
                    }
                    let is_blocked = matches!(step, Step::Blocked);
                    if is_blocked && fault.is(Mutant::EndsSearchWhereBlocked) {
                        break;
                    }
                }
            }
        }
        Attempt::Blocked
    }
}

/// Runs a part of an operation. If it blocks within, it unwinds to here.
///
/// # Errors
/// The message of its panic.
pub(crate) fn caught(body: impl FnOnce() -> Result<Step, DecodeError>) -> Result<Step, String> {
    match unwinding(body) {
        Ok(step) => step.map_err(|error| error.to_string()),
        Err(None) => Ok(Step::Blocked),
        Err(Some(words)) => Err(words),
    }
}

/// Runs a part of an operation.
///
/// # Errors
/// `None` if it blocked within, or the message of its panic.
pub(crate) fn unwinding<R>(body: impl FnOnce() -> R) -> Result<R, Option<String>> {
    let depth = DEPTH.get();
    DEPTH.set(depth + 1);
    let outcome = catch_unwind(AssertUnwindSafe(body));
    DEPTH.set(depth);
    outcome.map_err(|panic| match panic.is::<Unwound>() {
        true => None,
        false => Some(words_of(panic.as_ref())),
    })
}

/// Blocks the operation that this thread is in. The outermost one is tried again when its object
/// has changed.
///
/// # Panics
/// This thread is in no operation: the object is not shared, so it would block for ever.
pub fn block(object: &str, operation: &str) -> ! {
    assert!(
        DEPTH.get() > 0,
        "local deadlock: {operation} of {object} blocks, and no other process shares the object"
    );
    resume_unwind(Box::new(Unwound))
}

/// Runs an alternative that may block within. If it blocks, undoes its changes, and the next
/// alternative is tried.
pub fn or_undo<T: Clone, R>(state: &mut T, body: impl FnOnce(&mut T) -> R) -> Option<R> {
    let before = state.clone();
    match unwinding(|| body(state)) {
        Ok(result) => Some(result),
        Err(None) => {
            *state = before;
            None
        }
        Err(Some(words)) => panic!("{words}"),
    }
}

/// An object type that the executable has, under its name.
pub struct RegisteredType {
    /// Returns it.
    pub make: fn() -> ObjectType,
    /// Holds the type once it is made.
    pub made: &'static OnceLock<ObjectType>,
}

inventory::collect!(RegisteredType);

impl RegisteredType {
    /// Returns the type.
    #[must_use]
    pub fn get(&self) -> &'static ObjectType {
        self.made.get_or_init(self.make)
    }
}

/// Types that programs have registered by hand, such as generated code.
static BY_HAND: Mutex<BTreeMap<String, &'static ObjectType>> = Mutex::new(BTreeMap::new());

static OF_MACROS: LazyLock<BTreeMap<&'static str, &'static ObjectType>> = LazyLock::new(|| {
    let mut found = BTreeMap::new();
    for object_type in inventory::iter::<RegisteredType>
        .into_iter()
        .map(RegisteredType::get)
    {
        let before = found.insert(object_type.name(), object_type);
        let name = object_type.name();
        assert!(
            before.is_none(),
            "two object types are named {name}: rename one"
        );
    }
    found
});

/// Returns the functions that encode, decode and copy values of a Rust type.
#[must_use]
pub fn codec<T: StateOf>() -> Codec {
    let of = |state: &State| {
        state
            .downcast_ref::<T>()
            .expect("the codec of this type")
            .clone()
    };
    Codec {
        encode: Box::new(move |state| encode(state.downcast_ref::<T>().expect("its codec"))),
        decode: Box::new(|bytes| Ok(Box::new(value_in::<T>(bytes)?))),
        copy: Box::new(move |state| Box::new(of(state))),
    }
}

/// Encodes a value.
///
/// # Errors
/// The value cannot be encoded.
pub fn encode<V: Serialize>(value: &V) -> Result<Vec<u8>, DecodeError> {
    Ok(Message::of(value)?.into_bytes().into())
}

/// Registers a type until the process ends. All machines register the same types under the same
/// names.
///
/// # Errors
/// Another type has this name. The error is the type.
pub fn register(object_type: ObjectType) -> Result<&'static ObjectType, ObjectType> {
    if find(object_type.name()).is_some() {
        return Err(object_type);
    }
    let object_type: &'static ObjectType = Box::leak(Box::new(object_type));
    BY_HAND.lock().insert(object_type.name.clone(), object_type);
    Ok(object_type)
}

/// Returns the type of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static ObjectType> {
    let of_macros = OF_MACROS.get(name).copied();
    of_macros.or_else(|| BY_HAND.lock().get(name).copied())
}

/// Returns the names of all types.
pub(crate) fn names() -> Vec<String> {
    let of_macros = OF_MACROS.keys().map(|name| (*name).to_owned());
    let by_hand = BY_HAND.lock();
    of_macros.chain(by_hand.keys().cloned()).collect()
}

/// Returns the message of a panic.
pub(crate) fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("something that is no text").to_owned()
}
