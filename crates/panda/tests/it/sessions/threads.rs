//! Threads of both kinds: start, end, names, priorities, and concurrency.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc;

use antiphon_panda::thread::{self, Builder, Condition, Mutex, Semaphore, Threads};

const KINDS: [Threads; 2] = [Threads::System, Threads::Fibers];

/// Runs a program on threads of both kinds.
fn on_both(program: impl Fn(Threads) + Copy + Send + 'static) {
    for kind in KINDS {
        thread::run(kind, move || program(kind)).unwrap();
    }
}

/// Increments a counter when it is dropped.
struct Witness(Arc<AtomicBool>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

fn leaves_early(depth: u32) -> u32 {
    match depth {
        0 => thread::exit(7u32),
        _ => leaves_early(depth - 1) + 1,
    }
}

#[test]
fn a_thread_that_exits_has_its_value_and_drops_what_it_owns() {
    on_both(|kind| {
        let is_dropped = Arc::<AtomicBool>::default();
        let witness = Witness(is_dropped.clone());
        let early = thread::spawn(move || {
            let _witness = witness;
            leaves_early(3)
        });
        assert_eq!(early.unwrap().join().unwrap(), 7, "{kind:?}");
        assert!(is_dropped.load(SeqCst), "{kind:?}");
    });
}

#[test]
fn a_panic_comes_to_who_joins() {
    on_both(|kind| {
        let panics = thread::spawn(|| -> () { panic!("on purpose") }).unwrap();
        let panic = panics.join().unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"on purpose"), "{kind:?}");
    });
}

#[test]
fn a_thread_is_over_when_it_has_ended() {
    on_both(|_| {
        let gate = Arc::new(Semaphore::new(0));
        let own = gate.clone();
        let waits = thread::spawn(move || own.p()).unwrap();
        thread::yield_now();
        assert!(!waits.is_over());
        gate.v();
        while !waits.is_over() {
            thread::yield_now();
        }
        waits.join().unwrap();
    });
}

#[test]
fn every_thread_is_another() {
    on_both(|kind| {
        let own = thread::current();
        assert_eq!(own, thread::current(), "{kind:?}");
        let others = [(); 2].map(|()| thread::spawn(thread::current).unwrap());
        let [one, two] = others.map(|thread| thread.join().unwrap());
        assert!(one != own && two != own && one != two, "{kind:?}");
    });
}

#[test]
fn a_thread_of_the_system_has_its_name() {
    let named = Builder::new().name("soprano");
    let named = named.spawn(|| std::thread::current().name().map(str::to_owned));
    assert_eq!(named.unwrap().join().unwrap().as_deref(), Some("soprano"));
}

/// On one processor, threads of higher priority run first, whenever they were started.
#[test]
fn fibers_run_in_the_order_of_their_priorities() {
    let order = thread::run(Threads::Fibers, || {
        let order = Arc::new(Mutex::new(Vec::new()));
        let threads: Vec<_> = [0, 2, -1, 1]
            .into_iter()
            .map(|priority| {
                let order = order.clone();
                let record = move || order.lock().push(priority);
                Builder::new().priority(priority).spawn(record).unwrap()
            })
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        std::mem::take(&mut *order.lock())
    });
    assert_eq!(order.unwrap(), [2, 1, 0, -1]);
}

/// A thread that lowers its own priority lets others run first from its next turn on.
#[test]
fn a_fiber_sets_its_priority() {
    let order = thread::run(Threads::Fibers, || {
        let order = Arc::new(Mutex::new(Vec::new()));
        let (first, second) = (order.clone(), order.clone());
        let humble = thread::spawn(move || {
            assert!(thread::set_priority(-5));
            thread::yield_now();
            first.lock().push("humble");
        });
        let usual = thread::spawn(move || {
            thread::yield_now();
            second.lock().push("usual");
        });
        humble.unwrap().join().unwrap();
        usual.unwrap().join().unwrap();
        std::mem::take(&mut *order.lock())
    });
    assert_eq!(order.unwrap(), ["usual", "humble"]);
}

/// Returns the caller's nice value, as the system has it.
fn nice() -> i32 {
    rustix::process::getpriority_process(None).unwrap()
}

/// To lower a priority needs no privilege.
#[test]
fn a_thread_of_the_system_is_as_nice_as_its_priority_says() {
    let own = nice();
    let built = Builder::new().priority(-7).spawn(nice).unwrap();
    let built = built.join().unwrap();
    // To raise a priority (a lower nice value) takes a privilege.
    assert!(built == 7 || own > 7 && built == own, "{built}, {own}");
    let set = thread::spawn(|| (thread::set_priority(-1000), nice())).unwrap();
    assert_eq!(set.join().unwrap(), (true, 19), "within what there is");
    assert_eq!(nice(), own, "others keep theirs");
}

/// One thread blocks in the system until the other acts.
#[test]
fn others_go_on_while_a_call_blocks() {
    on_both(|_| {
        let (sender, receiver) = mpsc::channel();
        let waits = thread::spawn(move || thread::blocking(move || receiver.recv().unwrap()));
        let waits = waits.unwrap();
        thread::yield_now();
        let tells = thread::spawn(move || sender.send(11).unwrap()).unwrap();
        assert_eq!(waits.join().unwrap(), 11);
        tells.join().unwrap();
    });
}

#[test]
fn fibers_of_several_processors_share_what_locks_guard() {
    let count = || {
        let sum = Arc::new((Mutex::new(0u32), Condition::new()));
        let adders: Vec<_> = (0..50)
            .map(|_| {
                let sum = sum.clone();
                let add = move || {
                    for _ in 0..20 {
                        *sum.0.lock() += 1;
                        thread::yield_now();
                    }
                    sum.1.broadcast();
                };
                thread::spawn(add).unwrap()
            })
            .collect();
        let mut value = sum.0.lock();
        while *value < 1000 {
            sum.1.wait(&mut value);
        }
        drop(value);
        adders.into_iter().for_each(|adder| adder.join().unwrap());
        sum.0.lock().to_owned()
    };
    // SAFETY: no thread keeps what belongs to an OS thread over a wait.
    let sum = unsafe { thread::run_on(NonZeroUsize::new(2).unwrap(), count) };
    assert_eq!(sum.unwrap(), 1000);
}
