//! Operations of groups.
//!
//! The machine handles members and barriers. Data of an operation goes directly between the
//! members, in a context of its own.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use antiphon_panda::Message;

use crate::buffer::Encoding;
use crate::code::Code;
use crate::protocol::{Answer, GROUP_CONTEXT, Request};
use crate::receive::{Wait, Want, receive};
use crate::state::with;
use crate::task::Task;
use crate::tid::Tid;

/// Combines arrays: the kind of numbers, the array for the result, the other array, their length,
/// and a pointer for the status.
pub type Combine =
    unsafe extern "C" fn(*mut c_int, *mut c_void, *mut c_void, *mut c_int, *mut c_int);

/// Returns the bytes of a number of a kind.
///
/// # Errors
/// [`Code::BAD_PARAM`].
pub fn size_of_kind(kind: c_int) -> Result<usize, Code> {
    match kind {
        0 | 1 => Ok(1),
        2 | 9 => Ok(2),
        3 | 4 | 10 => Ok(4),
        5 | 6 | 8 | 11 => Ok(8),
        7 => Ok(16),
        _ => Err(Code::BAD_PARAM),
    }
}

/// Returns the members of a group, by their instances.
///
/// # Errors
/// [`Code::NULL_GROUP`], [`Code::NO_GROUP`].
pub fn members(task: &Task, group: &str) -> Result<Vec<(c_int, Tid)>, Code> {
    match task.ask(&Request::Members(group.into()))? {
        Answer::Members(members) => Ok(members),
        _ => Err(Code::SYS_ERR),
    }
}

/// An operation of a group, on the arrays of its members.
pub struct Operation<'a> {
    task: &'a Arc<Task>,
    tag: c_int,
    members: Vec<(c_int, Tid)>,
    root: Tid,
    /// Bytes that each member sends or receives.
    length: usize,
}

impl<'a> Operation<'a> {
    /// Begins an operation of a group.
    ///
    /// # Errors
    /// [`Code::BAD_PARAM`], [`Code::NO_GROUP`], [`Code::NOT_IN_GROUP`], [`Code::NO_INST`].
    pub fn new(
        task: &'a Arc<Task>,
        group: &str,
        (count, kind): (c_int, c_int),
        tag: c_int,
        root: c_int,
    ) -> Result<Self, Code> {
        let size = size_of_kind(kind)?;
        let count = usize::try_from(count).map_err(|_| Code::BAD_PARAM)?;
        if tag < 0 {
            return Err(Code::BAD_PARAM);
        }
        let members = members(task, group)?;
        if !members.iter().any(|(_, tid)| *tid == task.tid) {
            return Err(Code::NOT_IN_GROUP);
        }
        let root = members.iter().find(|(instance, _)| *instance == root);
        let root = root.ok_or(Code::NO_INST)?.1;
        Ok(Self {
            task,
            tag,
            members,
            root,
            length: count * size,
        })
    }

    /// Returns whether this task is the root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.task.tid == self.root
    }

    /// Returns the bytes that each member sends or receives.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the members, by their places.
    pub fn members(&self) -> impl Iterator<Item = (usize, Tid)> + '_ {
        let tids = self.members.iter().map(|(_, tid)| *tid);
        tids.enumerate()
    }

    /// Returns this task's id.
    #[must_use]
    pub fn own(&self) -> Tid {
        self.task.tid
    }

    /// Returns the root's id.
    #[must_use]
    pub fn root(&self) -> Tid {
        self.root
    }

    /// Sends bytes to a member.
    ///
    /// # Errors
    /// [`Code::BAD_PARAM`].
    pub fn give(&self, to: Tid, bytes: &[u8]) -> Result<(), Code> {
        let content = (Encoding::Raw, Message::copy_of(bytes));
        self.task.send(to, (GROUP_CONTEXT, self.tag), content, 0)
    }

    /// Receives bytes from a member.
    ///
    /// # Errors
    /// [`Code::MISMATCH`]: their number differs from ours; [`Code::NO_TASK`]: the member has ended.
    pub fn get(&self, from: Tid) -> Result<Vec<u8>, Code> {
        let want = Want {
            source: from.0,
            tag: self.tag,
            context: GROUP_CONTEXT,
        };
        let id = receive(want, Wait::Forever, true)?.ok_or(Code::NO_DATA)?;
        let buffer = with(|state| state.buffers.take(id));
        let bytes = buffer.map(|mut buffer| buffer.bytes()).unwrap_or_default();
        match bytes.len() == self.length {
            true => Ok(bytes.to_vec()),
            false => Err(Code::MISMATCH),
        }
    }
}

/// PVM's built-in ways to combine numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    Max,
    Min,
    Sum,
    Product,
}

/// A number that can be combined.
trait Number: Copy {
    fn combine(self, other: Self, by: By) -> Self;
}

macro_rules! integers {
    ($($number:ty)*) => {$(
        impl Number for $number {
            fn combine(self, other: Self, by: By) -> Self {
                match by {
                    By::Max => self.max(other),
                    By::Min => self.min(other),
                    By::Sum => self.wrapping_add(other),
                    By::Product => self.wrapping_mul(other),
                }
            }
        }
    )*};
}

macro_rules! reals {
    ($($number:ty)*) => {$(
        impl Number for $number {
            fn combine(self, other: Self, by: By) -> Self {
                match by {
                    By::Max => if other > self { other } else { self },
                    By::Min => if other < self { other } else { self },
                    By::Sum => self + other,
                    By::Product => self * other,
                }
            }
        }

        // Complex numbers are compared by their magnitudes.
        impl Number for [$number; 2] {
            fn combine(self, other: Self, by: By) -> Self {
                let square = |[re, im]: Self| re * re + im * im;
                match by {
                    By::Max => if square(other) > square(self) { other } else { self },
                    By::Min => if square(other) < square(self) { other } else { self },
                    By::Sum => [self[0] + other[0], self[1] + other[1]],
                    By::Product => [
                        self[0] * other[0] - self[1] * other[1],
                        self[0] * other[1] + self[1] * other[0],
                    ],
                }
            }
        }
    )*};
}

integers!(i8 i16 u16 i32 u32 i64 u64);
reals!(f32 f64);

/// Combines arrays of numbers. The result replaces the first.
///
/// # Errors
/// [`Code::BAD_PARAM`]: there is no such kind of numbers.
///
/// # Safety
/// Both arrays hold `count` numbers of the kind.
pub unsafe fn combine(
    kind: c_int,
    (into, other): (*mut c_void, *const c_void),
    count: c_int,
    by: By,
) -> Result<(), Code> {
    /// Combines arrays of one type.
    ///
    /// # Safety
    /// As for the enclosing function.
    unsafe fn each<T: Number>(into: *mut c_void, other: *const c_void, count: usize, by: By) {
        let (into, other) = (into.cast::<T>(), other.cast::<T>());
        for at in 0..count {
            // SAFETY: both arrays hold `count` of them, and nothing else refers to them meanwhile.
            unsafe {
                let combined = into
                    .add(at)
                    .read_unaligned()
                    .combine(other.add(at).read_unaligned(), by);
                into.add(at).write_unaligned(combined);
            }
        }
    }
    let count = usize::try_from(count).map_err(|_| Code::BAD_PARAM)?;
    // SAFETY: the caller's arrays hold numbers of the kind.
    unsafe {
        match kind {
            0 | 1 => each::<i8>(into, other, count, by),
            2 => each::<i16>(into, other, count, by),
            3 => each::<i32>(into, other, count, by),
            4 => each::<f32>(into, other, count, by),
            5 => each::<[f32; 2]>(into, other, count, by),
            6 => each::<f64>(into, other, count, by),
            7 => each::<[f64; 2]>(into, other, count, by),
            8 => each::<i64>(into, other, count, by),
            9 => each::<u16>(into, other, count, by),
            10 => each::<u32>(into, other, count, by),
            11 => each::<u64>(into, other, count, by),
            _ => return Err(Code::BAD_PARAM),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_combined_number_by_number() {
        let mut sum = [1_i32, i32::MAX];
        let other = [2_i32, 1];
        let arrays = (sum.as_mut_ptr().cast(), other.as_ptr().cast());
        // SAFETY: both hold two numbers.
        unsafe { combine(3, arrays, 2, By::Sum) }.unwrap();
        assert_eq!(sum, [3, i32::MIN]);
        // SAFETY: nothing is read, because there is no such kind.
        let refused = unsafe { combine(99, arrays, 2, By::Sum) };
        assert_eq!(refused, Err(Code::BAD_PARAM));
    }

    #[test]
    fn complex_numbers_are_compared_by_magnitude_and_multiplied_as_such() {
        assert_eq!([3.0_f32, 4.0].combine([5.1, 0.0], By::Max), [5.1, 0.0]);
        assert_eq!([0.0_f64, 1.0].combine([0.0, 1.0], By::Product), [-1.0, 0.0]);
    }
}
