//! For programs that create no virtual machine: constant answers to the run-time's questions.

use std::io::{self, Write};

use crate::flavour::Flavour;
use crate::layout::At;
use crate::stats::Counts;
use crate::trace::List;

/// Whether there are other address spaces.
pub const fn is_joined() -> bool {
    false
}

/// Whether this is not the first address space.
pub const fn is_guest() -> bool {
    false
}

/// Returns the text that precedes this machine's messages.
pub const fn prefix() -> &'static str {
    ""
}

/// Whether this process was started as another machine.
pub const fn become_guest() -> bool {
    false
}

/// Wakes the process that reports about all machines, from a signal handler.
pub const fn wake_at_signal() {}

/// Returns a line for each process of the other machines.
pub const fn everywhere_else() -> Vec<String> {
    Vec::new()
}

pub const fn begin_joined<S: Flavour>() {}
pub const fn at_rest<S: Flavour>() {}
pub const fn stop<S: Flavour>() {}

/// Whether nothing was lost with other machines.
pub const fn before_exit() -> bool {
    true
}
pub const fn take_leave(_code: i32) {}
pub const fn relay(_descriptor: i32, _text: &[u8]) {}
pub const fn read_line(_at: At) -> Vec<u8> {
    Vec::new()
}

/// Returns how many turns of other machines were not kept.
pub const fn turns_dropped() -> u64 {
    0
}

/// Returns what a timeline says about other machines.
pub const fn other_data() -> &'static str {
    ""
}

/// Writes the turns of other machines.
pub fn write_timelines<W: Write>(_list: &mut List<W>) -> io::Result<()> {
    Ok(())
}

/// Returns the counts of other machines, by their numbers in messages.
pub const fn counts_of_others() -> Vec<(u32, Option<Counts>)> {
    Vec::new()
}
