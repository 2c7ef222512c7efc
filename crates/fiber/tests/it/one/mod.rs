//! Fibers on one server.

mod order;
mod outlived;
mod synchronization;
mod ticks;

use std::cell::RefCell;
use std::rc::Rc;

use antiphon_fiber::{Builder, OneServer, Outcome, Run};

pub fn run<T: 'static>(main: impl FnOnce() -> T + 'static) -> Outcome<T> {
    Run::one().start(main).unwrap()
}

pub fn spawn<T: 'static>(
    body: impl FnOnce() -> T + 'static,
) -> antiphon_fiber::Handle<T, antiphon_fiber::One> {
    OneServer::spawn(Builder::default(), body).unwrap()
}

pub fn named(name: &str) -> Builder {
    Builder {
        name: Some(name.into()),
        ..Builder::default()
    }
}

/// Steps of fibers, in the order in which they happened.
#[derive(Clone, Default)]
pub struct Log(Rc<RefCell<Vec<u32>>>);

impl Log {
    pub fn add(&self, step: u32) {
        self.0.borrow_mut().push(step);
    }

    pub fn steps(&self) -> Vec<u32> {
        self.0.borrow().clone()
    }
}
