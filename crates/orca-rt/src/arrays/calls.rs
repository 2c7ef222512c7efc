//! The functions that generated C calls, but for those of a running operation.

use std::ffi::c_void;

use bytes::Bytes;
use orca::partitioned::{Array, Returned};
use orca::{Distribution, Error, Spread};

use super::elements::{number, take};
use super::view::{Seen, about, about_of};
use super::{ASSIGN, COPY, INIT, type_of};
use crate::errors::{self, fail_with};
use crate::layout::{self, ArrayType, At, Dimension, MOST_SHAPE, Reader, Writer};
use crate::objects::{bytes_of, for_c, handle_of};
use crate::processes;

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
