//! Partitioned objects: the program's types as types of arrays of the crate `orca`, and handles for
//! C.
//!
//! The elements of a part are memory that C has allocated, in the layout of their descriptor. An
//! operation gets a view with pointers to the elements that it has read so far. They stay valid
//! until the operation ends, because the run-time's `Access` holds them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_char, c_void};
use std::sync::{Arc, OnceLock};

use antiphon_panda::DecodeError;
use bytes::Bytes;
use orca::partitioned::{
    Access, Array, ArrayBody, ArrayOperation, Block, Part, PartCodec, Plan, Ran, Reads, Returned,
};
use orca::{Distribution, Error, Spread};

use crate::errors::{self, INTRODUCTIONS, fail_with};
use crate::layout::{
    self, ArrayType, At, Dimension, MOST_SHAPE, Reader, View, Writer, slice, text,
};
use crate::objects::{bytes_of, for_c, handle_of, malformed};
use crate::processes;

/// The operations behind a type's own: a copy of all elements, their assignment, the initial code.
const COPY: usize = 0;
const ASSIGN: usize = 1;
const INIT: usize = 2;

/// The elements of a part, in C.
struct Elements {
    of: &'static ArrayType,
    memory: *mut c_char,
    count: usize,
}

// SAFETY: the elements own the memory, and reading C code does not change it.
unsafe impl Send for Elements {}
// SAFETY: as above.
unsafe impl Sync for Elements {}

impl Drop for Elements {
    fn drop(&mut self) {
        // SAFETY: the memory holds this many elements, or is null.
        unsafe { layout::orca_elements_free(self.of.element, self.memory, self.count) }
    }
}

impl Elements {
    fn new(of: &'static ArrayType, count: usize) -> Self {
        Self {
            of,
            // SAFETY: the descriptor is a constant of the program.
            memory: unsafe { layout::orca_elements_new(of.element, count) },
            count,
        }
    }

    fn zeros(of: &'static ArrayType, count: usize) -> Self {
        // SAFETY: as above.
        let memory =
            unsafe { layout::orca_allocate(std::ptr::null(), count.max(1), (*of.element).size) };
        Self {
            of,
            memory: memory.cast(),
            count,
        }
    }

    fn copy(&self) -> Self {
        Self {
            of: self.of,
            // SAFETY: the memory holds this many elements.
            memory: unsafe { layout::orca_elements_copy(self.of.element, self.memory, self.count) },
            count: self.count,
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.append(&(self.count as u64).to_le_bytes());
        // SAFETY: as above.
        unsafe {
            layout::orca_elements_put(self.of.element, self.memory, self.count, &mut writer);
        }
        writer.take()
    }

    fn decode(of: &'static ArrayType, bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::of(bytes);
        let count = number(&mut reader).unwrap_or(u64::MAX);
        // SAFETY: the descriptor is a constant of the program.
        let fields = unsafe { (*of.element).count };
        // A field has at least one byte in the message.
        let most = match fields {
            0 => u64::from(u32::MAX),
            _ => bytes.len() as u64,
        };
        if count > most {
            return Err(malformed("part of a partitioned object", &reader));
        }
        let elements = Self::zeros(of, count as usize);
        // SAFETY: the memory of zeros holds no values.
        let is_read = unsafe {
            layout::orca_elements_get(of.element, elements.memory, elements.count, &mut reader)
        };
        match is_read {
            true => Ok(elements),
            false => Err(malformed("part of a partitioned object", &reader)),
        }
    }
}

fn number(reader: &mut Reader) -> Option<u64> {
    let bytes = take(reader, size_of::<u64>())?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// Takes bytes from a reader.
fn take<'a>(reader: &mut Reader, count: usize) -> Option<&'a [u8]> {
    let left = reader.end as usize - reader.next as usize;
    if count > left {
        return None;
    }
    // SAFETY: the reader has this many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(reader.next, count) };
    // SAFETY: as above.
    reader.next = unsafe { reader.next.add(count) };
    Some(bytes)
}

/// Parts that an operation has changed, by number.
type Changed = BTreeMap<usize, Arc<Part>>;

fn elements_of(part: &Arc<Part>) -> &Elements {
    part.downcast_ref().expect("the parts of this type")
}

/// A view of an array, with the memory that it points to.
struct Seen<'a> {
    view: View,
    parts: Vec<layout::Part>,
    needed: Vec<u8>,
    of: &'static ArrayType,
    _plan: &'a Plan,
}

impl<'a> Seen<'a> {
    /// Returns the shape of an array.
    fn shape(of: &'static ArrayType, plan: &'a Plan) -> Self {
        let (_, lows) = about_of(plan);
        let dimension = |at: usize| Dimension {
            low: lows[at],
            count: plan.lengths().get(at).copied().unwrap_or(1) as u64,
        };
        let part = |block: &Block| layout::Part {
            elements: std::ptr::null_mut(),
            from: block.from.map(|it| it as u64),
            length: block.lengths.map(|it| it as u64),
            is_changed: false,
        };
        let mut parts: Vec<_> = plan.blocks().iter().map(part).collect();
        let mut needed = vec![0; parts.len()];
        let count = |at: usize| plan.parts().get(at).copied().unwrap_or(1) as u64;
        let view = View {
            dimension: [dimension(0), dimension(1), dimension(2)],
            along: [0, 1, 2].map(|at| plan.along(at).as_ptr()),
            counts: [count(0), count(1)],
            parts: parts.as_mut_ptr(),
            part_count: parts.len() as u64,
            of,
            part: 0,
            own: std::ptr::null_mut(),
            needed: needed.as_mut_ptr(),
            access: std::ptr::null(),
        };
        Self {
            view,
            parts,
            needed,
            of,
            _plan: plan,
        }
    }

    /// Returns an array as an operation sees it.
    fn of(of: &'static ArrayType, access: &'a Access<'_>) -> Self {
        processes::serve(access.machine());
        let mut seen = Self::shape(of, access.plan());
        seen.view.access = std::ptr::from_ref(access).cast();
        seen
    }

    /// Returns the parts that an operation has changed.
    fn changed(&mut self) -> Changed {
        let changed = self.parts.iter_mut().enumerate();
        let changed = changed.filter(|(_, part)| part.is_changed);
        let of = self.of;
        changed
            .map(|(number, part)| (number, Arc::new(taken(of, part)) as Arc<Part>))
            .collect()
    }

    /// Returns the parts that a declaration has marked for one part.
    fn declared(
        &mut self,
        operation: &layout::ArrayOperation,
        part: usize,
        arguments: *mut c_void,
    ) -> BTreeSet<usize> {
        self.needed.fill(0);
        self.view.part = part as u64;
        if let Some(declare) = operation.declare {
            // SAFETY: the view has the array's shape.
            unsafe { declare(&mut self.view, arguments) };
        }
        let needed = self.needed.iter().enumerate();
        let needed = needed.filter(|(_, is_needed)| **is_needed != 0);
        needed.map(|(part, _)| part).collect()
    }
}

/// Takes a copy that an operation has changed.
fn taken(of: &'static ArrayType, part: &mut layout::Part) -> Elements {
    part.is_changed = false;
    Elements {
        of,
        memory: std::mem::replace(&mut part.elements, std::ptr::null_mut()),
        count: part.length.iter().product::<u64>() as usize,
    }
}

impl Drop for Seen<'_> {
    fn drop(&mut self) {
        // An operation that is unwound leaves its copies.
        drop(self.changed());
    }
}

/// Returns the elements of a part, or null if they cannot be fetched.
#[unsafe(no_mangle)]
unsafe extern "C" fn orca_array_part(view: *mut View, part: u64) -> *mut c_char {
    // SAFETY: C passes the view of the operation that it executes, and a part of it. The access is
    // that of the same operation.
    let (view, access) = unsafe { (&mut *view, &*(*view).access.cast::<Access<'_>>()) };
    let Some(elements) = access.try_part(part as usize) else {
        return std::ptr::null_mut();
    };
    let elements = elements_of(elements);
    if elements.count != access.plan().blocks()[part as usize].size() {
        errors::report(
            std::ptr::null(),
            INTRODUCTIONS[0],
            "partitioned object is not distributed",
            "",
        );
    }
    // SAFETY: as above.
    unsafe { (*view.parts.add(part as usize)).elements = elements.memory };
    elements.memory
}

/// The arguments of an operation in C.
struct Arguments {
    of: &'static layout::ArrayOperation,
    memory: *mut c_void,
}

impl Arguments {
    fn decode(of: &'static layout::ArrayOperation, bytes: &[u8]) -> Result<Self, DecodeError> {
        // SAFETY: this is plain memory of zeros.
        let memory = unsafe { layout::orca_allocate(std::ptr::null(), 1, of.size) };
        let arguments = Self { of, memory };
        let mut reader = Reader::of(bytes);
        // SAFETY: the memory has the size that the operation wants.
        match unsafe { (of.get)(memory, &mut reader) } {
            true => Ok(arguments),
            false => Err(malformed("arguments of an operation", &reader)),
        }
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        // SAFETY: the memory holds arguments, as far as they were read, and zeros.
        unsafe {
            (self.of.drop)(self.memory);
            layout::orca_free(self.memory);
        }
    }
}

/// Returns whether an array is distributed, and the first index of each dimension.
fn about_of(plan: &Plan) -> (bool, [i64; MOST_SHAPE]) {
    let Some((flag, lows)) = plan.about().split_first() else {
        return (false, [0; MOST_SHAPE]);
    };
    let low = |at: usize| {
        let bytes = lows.get(at * size_of::<i64>()..(at + 1) * size_of::<i64>());
        bytes.map_or(0, |it| {
            i64::from_le_bytes(it.try_into().unwrap_or_default())
        })
    };
    (*flag != 0, [low(0), low(1), low(2)])
}

fn about(is_distributed: bool, dimension: &[Dimension; MOST_SHAPE]) -> Vec<u8> {
    let mut bytes = vec![u8::from(is_distributed)];
    for it in dimension {
        bytes.extend(it.low.to_le_bytes());
    }
    bytes
}

/// All types of the program by the addresses of their descriptions.
static TYPES: OnceLock<BTreeMap<usize, &'static orca::partitioned::ArrayType>> = OnceLock::new();

/// Registers the program's types of partitioned objects.
pub fn register() {
    // SAFETY: generated code defines the program, and its tables are constants.
    let types = unsafe {
        let program = &layout::orca_program;
        slice(program.array_types, program.array_type_count)
    };
    let known = types.iter().map(|of| {
        // SAFETY: as above.
        let of = unsafe { &**of };
        let registered = orca::partitioned::register_array(described(of));
        let registered = registered
            .unwrap_or_else(|of| fail_with(&format!("two types of objects are named {}", of.name)));
        (std::ptr::from_ref(of) as usize, registered)
    });
    let known = known.collect();
    TYPES.get_or_init(|| known);
}

fn type_of(of: &ArrayType) -> &'static orca::partitioned::ArrayType {
    let address = std::ptr::from_ref(of) as usize;
    let found = TYPES.get().and_then(|types| types.get(&address));
    found.unwrap_or_else(|| fail_with("a partitioned object has no type"))
}

fn described(of: &'static ArrayType) -> orca::partitioned::ArrayType {
    let begin = move |plan: &Plan, part: usize| -> Arc<Part> {
        let count = match about_of(plan).0 {
            true => plan.blocks()[part].size(),
            false => 0,
        };
        Arc::new(Elements::new(of, count))
    };
    let encode = |part: &Part| {
        let elements = part.downcast_ref::<Elements>();
        Ok(elements.expect("a part of this type").encode())
    };
    // SAFETY: the table is a constant of the program.
    let table = unsafe { slice(of.operations, of.count) };
    let mut operations: Vec<_> = table.iter().map(|it| operation(of, it)).collect();
    operations.extend(hidden(of));
    orca::partitioned::ArrayType {
        // SAFETY: names are constants.
        name: unsafe { text(of.name) }.to_owned(),
        dimensions: of.dimensions as usize,
        codec: PartCodec {
            begin: Box::new(begin),
            encode: Box::new(encode),
            decode: Box::new(move |bytes| Ok(Arc::new(Elements::decode(of, bytes)?))),
            regroup: Box::new(move |access, plan, part| regroup(of, access, plan, part)),
        },
        operations,
    }
}

fn regroup(of: &'static ArrayType, access: &Access<'_>, plan: &Plan, part: usize) -> Arc<Part> {
    let block = &plan.blocks()[part];
    let new = Elements::zeros(of, block.size());
    // SAFETY: the descriptor is a constant of the program.
    let size = unsafe { (*of.element).size };
    for (place, index) in block.indices().enumerate() {
        let Some((part, at)) = access.plan().find(index) else {
            continue;
        };
        let Some(from) = access.try_part(part).map(elements_of) else {
            continue;
        };
        if at < from.count {
            // SAFETY: both places are within their parts, and the new one holds no value.
            unsafe {
                let (to, from) = (new.memory.add(place * size), from.memory.add(at * size));
                layout::orca_copy(of.element, to.cast(), from.cast());
            }
        }
    }
    Arc::new(new)
}

fn operation(of: &'static ArrayType, operation: &'static layout::ArrayOperation) -> ArrayOperation {
    let reads = match operation.reads {
        0 => Reads::Own,
        2 => Reads::Declared(Box::new(move |plan, part| {
            Seen::shape(of, plan).declared(operation, part, std::ptr::null_mut())
        })),
        3 => Reads::DeclaredByCall(Box::new(move |plan, part, bytes| {
            let arguments = Arguments::decode(operation, bytes)?;
            Ok(Seen::shape(of, plan).declared(operation, part, arguments.memory))
        })),
        4 => Reads::Recorded,
        5 => Reads::OnDemand,
        _ => Reads::Whole,
    };
    let body = match operation.is_parallel {
        true => ArrayBody::Parallel {
            reads,
            run: Box::new(move |access, parts, bytes| {
                run_parallel(of, operation, access, parts, bytes)
            }),
        },
        false => ArrayBody::Sequential {
            reads,
            writes: operation.writes,
            run: Box::new(move |access, bytes| {
                run_once(of, access, |view, writer| {
                    let arguments = Arguments::decode(operation, bytes)?;
                    run(operation, view, &arguments, writer)
                })
            }),
        },
    };
    ArrayOperation {
        // SAFETY: names are constants.
        name: unsafe { text(operation.name) }.to_owned(),
        body,
    }
}

/// Returns the operations on all elements that every type has.
fn hidden(of: &'static ArrayType) -> [ArrayOperation; 3] {
    type Body = Box<dyn Fn(&mut View, &[u8], &mut Writer) -> Result<(), DecodeError> + Send + Sync>;
    let of_body = |name: &str, writes: bool, body: Body| ArrayOperation {
        name: name.into(),
        body: ArrayBody::Sequential {
            reads: Reads::Whole,
            writes,
            run: Box::new(move |access, bytes| {
                run_once(of, access, |view, writer| body(view, bytes, writer))
            }),
        },
    };
    let copy: Body = Box::new(|view, _, writer| {
        // SAFETY: the view is of an array of this type.
        ended(unsafe { layout::orca_view_put(view, writer) })
    });
    let assign: Body = Box::new(|view, bytes, _| {
        let mut reader = Reader::of(bytes);
        // SAFETY: as above.
        match unsafe { layout::orca_view_get(view, &mut reader) } {
            true => Ok(()),
            false => Err(malformed("state of a partitioned object", &reader)),
        }
    });
    let init: Body = Box::new(|view, _, _| {
        // SAFETY: as above.
        ended(unsafe { layout::orca_view_init(view) })
    });
    [
        of_body("the copy of its elements", false, copy),
        of_body("the assignment of its elements", true, assign),
        of_body("the initial code", true, init),
    ]
}

/// Runs an operation in C: on a part if it is parallel.
fn run(
    operation: &'static layout::ArrayOperation,
    view: &mut View,
    arguments: &Arguments,
    writer: &mut Writer,
) -> Result<(), DecodeError> {
    // SAFETY: the view is of an array of this type, and the arguments are those of the operation.
    ended(unsafe { layout::orca_view_execute(view, operation, arguments.memory, writer) })
}

/// Returns an error if a part could not be fetched. The cause replaces it.
fn ended(has_ended: bool) -> Result<(), DecodeError> {
    match has_ended {
        true => Ok(()),
        false => Err(DecodeError::Value {
            wanted: "part of a partitioned object",
            reason: "it cannot be fetched".into(),
        }),
    }
}

fn run_parallel(
    of: &'static ArrayType,
    operation: &'static layout::ArrayOperation,
    access: &Access<'_>,
    parts: &[usize],
    bytes: &[u8],
) -> Result<Vec<Ran>, DecodeError> {
    let arguments = Arguments::decode(operation, bytes)?;
    let mut seen = Seen::of(of, access);
    let mut ran = Vec::new();
    for part in parts {
        // SAFETY: the view is that of this operation. Its machine has the part.
        unsafe { orca_array_part(&mut seen.view, *part as u64) };
        let before = elements_of(access.part(*part));
        let written = operation.writes.then(|| before.copy());
        seen.view.part = *part as u64;
        seen.view.own = written.as_ref().unwrap_or(before).memory;
        let mut writer = Writer::new();
        // An operation that does not write leaves `own` as it is.
        let outcome = run(operation, &mut seen.view, &arguments, &mut writer);
        let result = writer.take();
        outcome?;
        ran.push(Ran {
            written: written.map(|it| Arc::new(it) as Arc<Part>),
            result,
        });
    }
    Ok(ran)
}

/// Runs an operation on the whole array. Returns the parts that it has changed, and its result.
fn run_once(
    of: &'static ArrayType,
    access: &Access<'_>,
    body: impl FnOnce(&mut View, &mut Writer) -> Result<(), DecodeError>,
) -> Result<(Changed, Vec<u8>), DecodeError> {
    let mut seen = Seen::of(of, access);
    let mut writer = Writer::new();
    let outcome = body(&mut seen.view, &mut writer);
    let result = writer.take();
    outcome.map(|()| (seen.changed(), result))
}

fn array_of(handle: *mut c_void) -> Array {
    Array::of(handle_of(handle)).unwrap_or_else(|| fail_with("an object is not partitioned"))
}

fn lengths(of: &ArrayType, dimension: &[Dimension; MOST_SHAPE]) -> Vec<usize> {
    let own = dimension.iter().take(of.dimensions as usize);
    own.map(|it| it.count as usize).collect()
}

fn or_give_up<R>(at: At, outcome: Result<R, Error>) -> R {
    outcome.unwrap_or_else(|error| errors::give_up(at, &error))
}

#[unsafe(no_mangle)]
extern "C" fn orca_array_create(
    of: &'static ArrayType,
    dimension: &[Dimension; MOST_SHAPE],
    at: At,
) -> *mut c_void {
    let parts = vec![1; of.dimensions as usize];
    let created = processes::here(|orca| {
        let how = Distribution::owners(&parts, &[orca.machine()]);
        let about = about(false, dimension);
        orca.create_array_about(type_of(of), &lengths(of, dimension), &how, about)
    });
    for_c(or_give_up(at, created).handle().clone())
}

/// Returns a handle after it is distributed, or a new one. All elements start over in one step.
fn distributed(
    handle: *mut c_void,
    of: &'static ArrayType,
    dimension: &[Dimension; MOST_SHAPE],
    how: &Distribution,
    first: Option<(usize, Bytes)>,
) -> Result<*mut c_void, Error> {
    let about = about(true, dimension);
    if !handle.is_null() {
        array_of(handle).distribute_raw(how, about, first)?;
        return Ok(handle);
    }
    let array = processes::here(|orca| {
        orca.create_array_about(type_of(of), &lengths(of, dimension), how, about)
    })?;
    // Nobody else has the new array yet.
    if let Some((operation, arguments)) = first {
        array.invoke_raw(operation, arguments)?;
    }
    Ok(for_c(array.handle().clone()))
}

fn parts_of(of: &ArrayType, parts: &[i64; MOST_SHAPE]) -> Vec<usize> {
    let own = parts.iter().take(of.dimensions as usize);
    own.map(|it| (*it).max(0) as usize).collect()
}

#[unsafe(no_mangle)]
extern "C" fn orca_array_distribute(
    handle: *mut c_void,
    of: &'static ArrayType,
    dimension: &[Dimension; MOST_SHAPE],
    parts: &[i64; MOST_SHAPE],
    machines: *const i32,
    count: usize,
    along: *const i64,
    at: At,
) -> *mut c_void {
    let machines: Vec<u32> = match count {
        0 => Vec::new(),
        // SAFETY: C passes this many machines, which it has checked.
        _ => unsafe { std::slice::from_raw_parts(machines, count) }
            .iter()
            .map(|it| *it as u32)
            .collect(),
    };
    let parts = parts_of(of, parts);
    let how = match along.is_null() {
        true => Distribution::owners(&parts, &machines),
        false => {
            // SAFETY: C passes two numbers a dimension.
            let along = unsafe { std::slice::from_raw_parts(along, 2 * of.dimensions as usize) };
            let along = along.chunks_exact(2).map(|it| match it[1] {
                0 => (it[0] as usize, Spread::Cyclic),
                _ => (it[0] as usize, Spread::Block),
            });
            Distribution::grid(&parts, &machines, &along.collect::<Vec<_>>())
        }
    };
    let init = of.count as usize + INIT;
    let first = of.init.is_some().then(|| (init, Bytes::new()));
    let array = (!handle.is_null()).then(|| array_of(handle));
    let is_again = |array: &Array| array.plan().is_ok_and(|plan| about_of(&plan).0);
    let outcome = match array.filter(is_again) {
        // Elements keep their values, and the initial code may change them.
        Some(array) => array
            .distribute(&how, true)
            .and_then(|()| match first {
                Some((init, nothing)) => array.invoke_raw(init, nothing).map(drop),
                None => Ok(()),
            })
            .map(|()| handle),
        None => distributed(handle, of, dimension, &how, first),
    };
    or_give_up(at, outcome)
}

#[unsafe(no_mangle)]
extern "C" fn orca_array_invoke(
    handle: *mut c_void,
    of: &'static ArrayType,
    number: u32,
    bytes: *const u8,
    size: usize,
    arguments: *mut c_void,
    at: At,
) {
    let invoked = array_of(handle).invoke_raw(number as usize, bytes_of(bytes, size));
    let returned = or_give_up(at, invoked);
    // SAFETY: the table is a constant of the program, and has this operation.
    let operation = unsafe { &*of.operations.add(number as usize) };
    if operation.has_result && !deliver(of, operation, &returned, arguments) {
        fail_with("the result of an operation is malformed");
    }
}

/// Stores the results of an operation for its caller.
fn deliver(
    of: &'static ArrayType,
    operation: &layout::ArrayOperation,
    (plan, shares): &Returned,
    arguments: *mut c_void,
) -> bool {
    let Some(collect) = operation.collect else {
        return shares.first().is_some_and(|(_, bytes)| {
            // SAFETY: the arguments are those of this operation.
            unsafe { (operation.get_result)(arguments, &mut Reader::of(bytes)) }
        });
    };
    let mut seen = Seen::shape(of, plan);
    let mut shares = shares.iter().enumerate();
    shares.all(|(count, (part, bytes))| {
        seen.view.part = *part as u64;
        // SAFETY: as above.
        unsafe {
            collect(
                &mut seen.view,
                arguments,
                count == 0,
                &mut Reader::of(bytes),
            )
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn orca_array_shape(
    handle: *mut c_void,
    dimension: &mut [Dimension; MOST_SHAPE],
    parts: &mut [i64; MOST_SHAPE],
) -> bool {
    let plan = match array_of(handle).plan() {
        Ok(plan) => plan,
        Err(error) => errors::give_up(std::ptr::null(), &error),
    };
    let (is_distributed, lows) = about_of(&plan);
    for (at, it) in dimension.iter_mut().enumerate() {
        it.low = lows[at];
        it.count = plan.lengths().get(at).copied().unwrap_or(1) as u64;
    }
    // A process may have set other parts for its next distribution.
    if is_distributed && parts[0] == 0 {
        for (at, it) in parts.iter_mut().enumerate() {
            *it = plan.parts().get(at).copied().unwrap_or(1) as i64;
        }
    }
    is_distributed
}

#[unsafe(no_mangle)]
extern "C" fn orca_array_put(handle: *mut c_void, of: &'static ArrayType, writer: &mut Writer) {
    let state = array_of(handle).invoke_raw(of.count as usize + COPY, Bytes::new());
    let (plan, shares) = or_give_up(std::ptr::null(), state);
    let owners: Vec<u32> = plan.blocks().iter().map(|it| it.owner).collect();
    for count in plan.parts() {
        writer.append(&(*count as u64).to_le_bytes());
    }
    writer.append(&(owners.len() as u64).to_le_bytes());
    for owner in owners {
        writer.append(&owner.to_le_bytes());
    }
    let state = shares.first().map_or(&[][..], |(_, bytes)| bytes);
    writer.append(&(state.len() as u64).to_le_bytes());
    writer.append(state);
}

#[unsafe(no_mangle)]
extern "C" fn orca_array_restore(
    handle: *mut c_void,
    of: &'static ArrayType,
    dimension: &[Dimension; MOST_SHAPE],
    reader: &mut Reader,
) -> *mut c_void {
    let Some((how, state)) = restored(of, reader) else {
        return std::ptr::null_mut();
    };
    let first = (of.count as usize + ASSIGN, state);
    let outcome = distributed(handle, of, dimension, &how, Some(first));
    or_give_up(std::ptr::null(), outcome)
}

/// Reads a distribution and the bytes of all elements.
fn restored(of: &ArrayType, reader: &mut Reader) -> Option<(Distribution, Bytes)> {
    let mut parts = Vec::new();
    for _ in 0..of.dimensions {
        parts.push(number(reader)? as usize);
    }
    let count = number(reader)? as usize;
    let owners = take(reader, count.checked_mul(size_of::<u32>())?)?;
    let owners = owners.chunks_exact(size_of::<u32>());
    let owners = owners.map(|it| u32::from_le_bytes(it.try_into().unwrap_or_default()));
    let how = Distribution::owners(&parts, &owners.collect::<Vec<_>>());
    let length = number(reader)? as usize;
    let state = Bytes::copy_from_slice(take(reader, length)?);
    Some((how, state))
}
