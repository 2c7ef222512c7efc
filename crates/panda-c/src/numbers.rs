//! Collective operations on arrays of numbers.

use std::ffi::c_void;

use antiphon_panda::{Communicator, Number, Reduction};

use crate::communicator::panda_comm;
use crate::given::given;
use crate::status::{Failure, entry, panda_rank, panda_status};

/// A type of numbers: int8_t.
pub const PANDA_INT8: u32 = 1;
/// A type of numbers: int16_t.
pub const PANDA_INT16: u32 = 2;
/// A type of numbers: int32_t.
pub const PANDA_INT32: u32 = 3;
/// A type of numbers: int64_t.
pub const PANDA_INT64: u32 = 4;
/// A type of numbers: uint8_t.
pub const PANDA_UINT8: u32 = 5;
/// A type of numbers: uint16_t.
pub const PANDA_UINT16: u32 = 6;
/// A type of numbers: uint32_t.
pub const PANDA_UINT32: u32 = 7;
/// A type of numbers: uint64_t.
pub const PANDA_UINT64: u32 = 8;
/// A type of numbers: float, of 32 bits.
pub const PANDA_FLOAT: u32 = 9;
/// A type of numbers: double, of 64 bits.
pub const PANDA_DOUBLE: u32 = 10;

/// An operation on numbers: their sum. Integers wrap around.
pub const PANDA_SUM: u32 = 1;
/// An operation on numbers: their product. Integers wrap around.
pub const PANDA_PRODUCT: u32 = 2;
/// An operation on numbers: the least of them.
pub const PANDA_LEAST: u32 = 3;
/// An operation on numbers: the greatest of them.
pub const PANDA_GREATEST: u32 = 4;
/// An operation on integers: the bits that all have.
pub const PANDA_AND: u32 = 5;
/// An operation on integers: the bits that one or more have.
pub const PANDA_OR: u32 = 6;
/// An operation on integers: the bits that an odd number of them have.
pub const PANDA_XOR: u32 = 7;

fn reduction(by: u32) -> Result<Reduction, Failure> {
    Ok(match by {
        PANDA_SUM => Reduction::Sum,
        PANDA_PRODUCT => Reduction::Product,
        PANDA_LEAST => Reduction::Least,
        PANDA_GREATEST => Reduction::Greatest,
        PANDA_AND => Reduction::And,
        PANDA_OR => Reduction::Or,
        PANDA_XOR => Reduction::Xor,
        other => return Err(Failure::argument("by", format!("is no operation: {other}"))),
    })
}

/// An array of the caller. Its type is known at run time.
struct Numbers {
    first: *mut c_void,
    count: usize,
}

impl Numbers {
    /// Reduces it, to a root or to all.
    ///
    /// # Safety
    /// It is NULL, or has the given number of values of this type, and nothing else refers to them
    /// meanwhile.
    unsafe fn reduce<T: Number>(
        &self,
        communicator: &Communicator,
        root: Option<panda_rank>,
        by: Reduction,
    ) -> Result<(), Failure> {
        let first = self.first.cast::<T>();
        let numbers = match (self.count, first.is_null(), first.is_aligned()) {
            (0, ..) => &mut [],
            (_, true, _) => return Err(Failure::argument("numbers", "is NULL")),
            (_, _, false) => {
                let why = "is not aligned as its type must be";
                return Err(Failure::argument("numbers", why));
            }
            // SAFETY: the caller's promise; it is not NULL, and aligned.
            _ => unsafe { std::slice::from_raw_parts_mut(first, self.count) },
        };
        let reduced = match root {
            Some(root) => communicator.reduce_numbers(root, numbers, by),
            None => communicator.all_reduce_numbers(numbers, by),
        };
        Ok(reduced?)
    }

    /// The same for the type that a constant names.
    ///
    /// # Safety
    /// As above, with values of that type.
    unsafe fn reduce_of(
        &self,
        communicator: &Communicator,
        root: Option<panda_rank>,
        of: u32,
        by: u32,
    ) -> Result<(), Failure> {
        let by = reduction(by)?;
        // SAFETY: the caller's promise, of the type that the constant names.
        unsafe {
            match of {
                PANDA_INT8 => self.reduce::<i8>(communicator, root, by),
                PANDA_INT16 => self.reduce::<i16>(communicator, root, by),
                PANDA_INT32 => self.reduce::<i32>(communicator, root, by),
                PANDA_INT64 => self.reduce::<i64>(communicator, root, by),
                PANDA_UINT8 => self.reduce::<u8>(communicator, root, by),
                PANDA_UINT16 => self.reduce::<u16>(communicator, root, by),
                PANDA_UINT32 => self.reduce::<u32>(communicator, root, by),
                PANDA_UINT64 => self.reduce::<u64>(communicator, root, by),
                PANDA_FLOAT => self.reduce::<f32>(communicator, root, by),
                PANDA_DOUBLE => self.reduce::<f64>(communicator, root, by),
                other => Err(Failure::argument(
                    "of",
                    format!("is no type of numbers: {other}"),
                )),
            }
        }
    }
}

/// Combines the arrays of all, number by number, into each process's array. All processes pass the
/// same `count`, the same type `of`, such as PANDA_DOUBLE, and the same operation `by`, such as
/// PANDA_SUM. All get the same bits.
///
/// Numbers are combined in the order of the communicator, starting at the process of the lowest
/// rank: first neighbours, then neighbouring pairs, and so on. After an error the array has an
/// intermediate result. 0 numbers, which may be NULL, are a barrier.
///
/// Errors: see panda_comm_barrier(); PANDA_MISMATCH: others have another count, type or operation,
/// and the error names it at all processes; PANDA_BAD_ARGUMENT: as there, and for bits of
/// floating-point numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_comm_all_reduce_numbers(
    communicator: Option<&panda_comm>,
    numbers: *mut c_void,
    count: usize,
    of: u32,
    by: u32,
) -> panda_status {
    entry("panda_comm_all_reduce_numbers", || {
        let communicator = &given(communicator, "communicator")?.communicator;
        let numbers = Numbers {
            first: numbers,
            count,
        };
        // SAFETY: the caller's promise.
        unsafe { numbers.reduce_of(communicator, None, of, by) }
    })
}

/// The same into the root's array, with numbers combined from the root's place on. The arrays of
/// others then have unspecified values. A process that only sends continues before the root has
/// finished.
///
/// Errors: as panda_comm_all_reduce_numbers(); a mismatch at the root and at processes that wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_comm_reduce_numbers(
    communicator: Option<&panda_comm>,
    root: panda_rank,
    numbers: *mut c_void,
    count: usize,
    of: u32,
    by: u32,
) -> panda_status {
    entry("panda_comm_reduce_numbers", || {
        let communicator = &given(communicator, "communicator")?.communicator;
        let numbers = Numbers {
            first: numbers,
            count,
        };
        // SAFETY: the caller's promise.
        unsafe { numbers.reduce_of(communicator, Some(root), of, by) }
    })
}
