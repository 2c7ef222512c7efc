//! What an operation in C sees of an array.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_char, c_void};
use std::sync::Arc;

use orca::partitioned::{Access, Block, Part, Plan};

use super::elements::{Elements, elements_of};
use crate::errors::{self, INTRODUCTIONS};
use crate::layout::{self, ArrayType, Dimension, MOST_SHAPE, View};
use crate::processes;

/// Parts that an operation has changed, by number.
pub(super) type Changed = BTreeMap<usize, Arc<Part>>;

/// A view of an array, with the memory that it points to.
pub(super) struct Seen<'a> {
    pub view: View,
    parts: Vec<layout::Part>,
    needed: Vec<u8>,
    of: &'static ArrayType,
    _plan: &'a Plan,
}

impl<'a> Seen<'a> {
    /// Returns the shape of an array.
    pub fn shape(of: &'static ArrayType, plan: &'a Plan) -> Self {
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
    pub fn of(of: &'static ArrayType, access: &'a Access<'_>) -> Self {
        processes::serve(access.machine());
        let mut seen = Self::shape(of, access.plan());
        seen.view.access = std::ptr::from_ref(access).cast();
        seen
    }

    /// Returns the parts that an operation has changed.
    pub fn changed(&mut self) -> Changed {
        let changed = self.parts.iter_mut().enumerate();
        let changed = changed.filter(|(_, part)| part.is_changed);
        let of = self.of;
        changed
            .map(|(number, part)| (number, Arc::new(taken(of, part)) as Arc<Part>))
            .collect()
    }

    /// Returns the parts that a declaration has marked for one part.
    pub fn declared(
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
pub(super) unsafe extern "C" fn orca_array_part(view: *mut View, part: u64) -> *mut c_char {
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

/// Returns whether an array is distributed, and the first index of each dimension.
pub(super) fn about_of(plan: &Plan) -> (bool, [i64; MOST_SHAPE]) {
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

pub(super) fn about(is_distributed: bool, dimension: &[Dimension; MOST_SHAPE]) -> Vec<u8> {
    let mut bytes = vec![u8::from(is_distributed)];
    for it in dimension {
        bytes.extend(it.low.to_le_bytes());
    }
    bytes
}
