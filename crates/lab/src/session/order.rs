//! The order of a batch's slices, as the protocol gives it.

use crate::protocol::role_word;
use antiphon_measure::{BatchRequest, Role, Slice};

/// Returns the fault of a batch's slices: in number, order, role or iterations.
pub(crate) fn wrong_slice(slices: &[Slice], wanted: &BatchRequest) -> Option<String> {
    use Role::{Control, Reference, Test};
    let with_reference = [Reference, Control, Test, Test, Control, Reference];
    let order = match wanted.reference_iterations {
        0 => &with_reference[1..5],
        _ => &with_reference[..],
    };
    let expected = order.len() * wanted.blocks as usize;
    if slices.len() != expected {
        return Some(format!(
            "{} slices, where {} blocks of {} make {expected}",
            slices.len(),
            wanted.blocks,
            order.len()
        ));
    }
    let due = (0..wanted.blocks).flat_map(|block| order.iter().map(move |role| (block, *role)));
    slices
        .iter()
        .zip(due)
        .enumerate()
        .find_map(|(index, (slice, (block, role)))| {
            let iterations = match role {
                Reference => wanted.reference_iterations,
                Control | Test => wanted.iterations,
            };
            let found = (slice.block, slice.role, slice.iterations);
            (found != (block, role, iterations)).then(|| {
                format!(
                    "slice {index} is of block {}, {} with {} iterations, where block {block}, {} with {iterations} was due",
                    slice.block,
                    role_word(slice.role),
                    slice.iterations,
                    role_word(role)
                )
            })
        })
}
