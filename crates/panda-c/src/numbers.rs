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

/// What becomes of numbers: they are added. Integers wrap around.
pub const PANDA_SUM: u32 = 1;
/// What becomes of numbers: they are multiplied. Integers wrap around.
pub const PANDA_PRODUCT: u32 = 2;
/// What becomes of numbers: the least of them.
pub const PANDA_LEAST: u32 = 3;
/// What becomes of numbers: the greatest of them.
pub const PANDA_GREATEST: u32 = 4;
/// What becomes of integers: the bits that all have.
pub const PANDA_AND: u32 = 5;
/// What becomes of integers: the bits that one or more have.
pub const PANDA_OR: u32 = 6;
/// What becomes of integers: the bits that an odd number of them have.
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

/// An array of the caller's, of a type that is known when the program runs.
struct Numbers {
    first: *mut c_void,
    count: usize,
}

impl Numbers {
    /// Reduces it, to a root or to all.
    ///
    /// # Safety
    /// It is NULL or has as many numbers of this type as is said, which are nobody else's meanwhile.
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
            // SAFETY: the caller's promise; it is there, and aligned.
            _ => unsafe { std::slice::from_raw_parts_mut(first, self.count) },
        };
        let reduced = match root {
            Some(root) => communicator.reduce_numbers(root, numbers, by),
            None => communicator.all_reduce_numbers(numbers, by),
        };
        Ok(reduced?)
    }

    /// The same of the type that a constant names.
    ///
    /// # Safety
    /// As above, of that type.
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

/// Everybody's arrays combined number by number, into everybody's array: `count` numbers of the type `of`, such as PANDA_DOUBLE, by the operation `by`, such as PANDA_SUM, the same at all. All get the same bits. Numbers are
/// combined in the order of the communicator from the process of the lowest rank on, first neighbours, then neighbouring pairs, and so on. After an error the array has what was reached. 0 numbers, which may be NULL, are a
/// barrier.
///
/// Errors: see panda_comm_barrier(); PANDA_MISMATCH: others have another count, type or operation; it says which, at all; PANDA_BAD_ARGUMENT: as there, and for bits of floating-point numbers.
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

/// The same into the root's array, from whose place on numbers are combined; what others' arrays have afterwards is not said. A process that has only to send goes on before the root has ended.
///
/// Errors: as panda_comm_all_reduce_numbers(); a mismatch at the root and at those who wait.
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
