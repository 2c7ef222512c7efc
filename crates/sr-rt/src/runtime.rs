//! State that the whole program shares.

use std::collections::HashMap;

use antiphon_fiber::{Lock, Servers, Word};

use crate::layout::{Component, FIRST_SERIAL, Instance, Op};
use crate::process::Process;

/// State that the whole program shares.
pub struct Runtime<S: Servers> {
    serials: S::Word,
    /// Processes started so far.
    pub processes: S::Word,
    pub instances: S::Lock<Instances>,
    /// Descriptors that no process uses now.
    pub spare_processes: S::Lock<Vec<*mut Process<S>>>,
    /// Memory that is only used for operations, by the number of operations in each piece.
    pub spare_ops: S::Lock<HashMap<i64, Vec<*mut Op>>>,
    /// Whether finals have begun.
    pub ending: S::Lock<Ending>,
}

/// How far the program's end has come.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The program runs.
    #[default]
    None,
    /// The finals run.
    Finals,
}

/// All instances.
#[derive(Default)]
pub struct Instances {
    /// Every instance ever made, in the order of creation, including memory that waits for reuse.
    pub all: Vec<*mut Instance>,
    /// Memory of destroyed instances, by component.
    pub spare: HashMap<*const Component, Vec<*mut Instance>>,
    /// The state of each global.
    pub makers: crate::instance::Makers,
    /// Globals whose bodies have ended or replied, in that order. A global that imports another one
    /// comes after it.
    pub globals: Vec<*mut Instance>,
    /// The instance of the main resource, and its serial.
    pub main: Option<(*mut Instance, u32)>,
}

// SAFETY: the pointers lead to memory that is used under locks, or by the one process that owns it.
unsafe impl<S: Servers> Send for Runtime<S> {}
// SAFETY: as for Send.
unsafe impl<S: Servers> Sync for Runtime<S> {}

impl<S: Servers> Runtime<S> {
    pub fn new() -> Self {
        let serials = S::Word::default();
        serials.set(u64::from(FIRST_SERIAL));
        Runtime {
            serials,
            processes: S::Word::default(),
            instances: S::Lock::new(Instances::default()),
            spare_processes: S::Lock::new(Vec::new()),
            spare_ops: S::Lock::new(HashMap::new()),
            ending: S::Lock::new(Ending::None),
        }
    }

    /// Returns a new serial, unique as far as 32 bits go, and never one of those for null and noop.
    #[inline]
    pub fn serial(&self) -> u32 {
        loop {
            let serial = self.serials.add(1) as u32;
            if (FIRST_SERIAL..u32::MAX).contains(&serial) {
                return serial;
            }
        }
    }
}
