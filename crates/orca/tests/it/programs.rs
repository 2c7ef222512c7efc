//! Whole programs, over any platform.

use std::time::Duration;

use antiphon_panda::{Session, thread};
use orca::{Error, Location, On, Orca, Placement, Shared};

use crate::objects::{Buffer, Counter, Desk, Log, Table};
use crate::platforms::{local, result, run};

type Sessions = fn(u32) -> Vec<Session>;
/// A program that returns how often an operation on a desk was tried, and what was taken from it.
type Desks = fn(&Orca) -> Result<(u32, Vec<u32>), Error>;

#[orca::process]
fn adder(orca: &Orca, counters: Vec<Shared<Counter>>, times: u32) -> Result<(), Error> {
    for time in 0..times {
        for counter in &counters {
            counter.add(1)?;
            let seen = counter.value()?;
            assert!(
                seen > i64::from(time),
                "{orca:?} does not see its own write"
            );
        }
    }
    Ok(())
}

pub fn a_counter_counts_what_all_add(sessions: Sessions) {
    let sums = result(sessions(3), |orca| {
        let placements = [
            Placement::Replicated,
            Placement::Owned(1),
            Placement::Adaptive,
        ];
        let counters = placements.map(|it| orca.create_at(it, Counter::default()));
        let counters: Vec<_> = counters.into_iter().collect::<Result<_, _>>()?;
        for machine in orca.machines() {
            adder::fork(orca, On::Machine(machine), counters.clone(), 50)?;
        }
        counters
            .iter()
            .map(|it| it.await_at_least(150))
            .collect::<Result<Vec<_>, _>>()
    });
    assert_eq!(sums, [150; 3]);
}

#[orca::process]
fn producer(buffer: Shared<Buffer>, done: Shared<Counter>, from: u32) -> Result<(), Error> {
    (from..from + 50).try_for_each(|item| buffer.put(item))?;
    done.add(1)
}

#[orca::process]
fn consumer(
    buffer: Shared<Buffer>,
    sum: Shared<Counter>,
    done: Shared<Counter>,
) -> Result<(), Error> {
    while let Some(item) = buffer.get()? {
        sum.add(item.into())?;
    }
    done.add(1)
}

pub fn a_bounded_buffer_hands_over_each_item_once(sessions: Sessions) {
    let sums = result(sessions(3), |orca| {
        let mut sums = Vec::new();
        for placement in [
            Placement::Replicated,
            Placement::Owned(2),
            Placement::Adaptive,
        ] {
            let buffer = orca.create_at(placement, Buffer::new(3))?;
            let sum = orca.create(Counter::default())?;
            let (produced, consumed) = (
                orca.create(Counter::default())?,
                orca.create(Counter::default())?,
            );
            for rank in 0..3 {
                let on = On::Machine(rank);
                producer::fork(orca, on, buffer.clone(), produced.clone(), rank * 1000)?;
                consumer::fork(orca, on, buffer.clone(), sum.clone(), consumed.clone())?;
            }
            produced.await_at_least(3)?;
            buffer.close()?;
            consumed.await_at_least(3)?;
            assert_eq!(buffer.len()?, 0);
            sums.push(sum.value()?);
        }
        Ok(sums)
    });
    let each: i64 = (0..3).flat_map(|rank| rank * 1000..rank * 1000 + 50).sum();
    assert_eq!(sums, [each; 3]);
}

#[orca::process]
fn philosopher(table: Shared<Table>, seat: usize, meals: u32) -> Result<(), Error> {
    for _ in 0..meals {
        table.take_both(seat)?;
        table.put_both(seat)?;
    }
    Ok(())
}

pub fn philosophers_all_eat(sessions: Sessions) {
    let meals = result(sessions(3), |orca| {
        let mut meals = Vec::new();
        for placement in [Placement::Replicated, Placement::Owned(1)] {
            let table = orca.create_at(placement, Table::new(5))?;
            for seat in 0..5 {
                philosopher::fork(orca, On::Any, table.clone(), seat, 10)?;
            }
            meals.push(table.await_meals(50)?);
        }
        Ok(meals)
    });
    assert_eq!(meals, [50, 50]);
}

#[orca::process]
fn greedy(table: Shared<Table>, both: Shared<Counter>, seat: usize) -> Result<(), Error> {
    table.take_one(seat)?;
    both.add(1)?;
    both.await_at_least(2)?;
    let refused = table.take_one(1 - seat).expect_err("the other has it");
    assert!(matches!(refused, Error::Deadlock(_)), "{refused}");
    Ok(())
}

pub fn a_deadlock_names_who_waits_for_what(sessions: Sessions) {
    for placement in [0, 1, 2] {
        let main: fn(&Orca) -> Result<(), Error> = match placement {
            0 => |orca| deadlock(orca, Placement::Replicated),
            1 => |orca| deadlock(orca, Placement::Owned(1)),
            _ => |orca| deadlock(orca, Placement::Adaptive),
        };
        for ended in run(sessions(2), main) {
            let error = ended.expect_err("a deadlock").to_string();
            assert!(
                error.contains("all 3 processes wait for each other"),
                "{error}"
            );
            for fact in [
                "greedy waits in take_one of",
                "Table#",
                "for !self.is_taken[fork]",
                "process main waits in await_meals",
            ] {
                assert!(error.contains(fact), "{fact}: {error}");
            }
        }
    }
}

fn deadlock(orca: &Orca, placement: Placement) -> Result<(), Error> {
    let table = orca.create_at(placement, Table::new(2))?;
    let both = orca.create(Counter::default())?;
    for seat in 0..2 {
        greedy::fork(
            orca,
            On::Machine(seat as u32),
            table.clone(),
            both.clone(),
            seat,
        )?;
    }
    let refused = table.await_meals(1).expect_err("nobody eats");
    assert!(matches!(refused, Error::Deadlock(_)), "{refused}");
    Ok(())
}

#[orca::process]
fn mover(counter: Shared<Counter>, rounds: u32) -> Result<(), Error> {
    let to = [
        Placement::Replicated,
        Placement::Owned(0),
        Placement::Owned(2),
        Placement::Owned(1),
    ];
    for round in 0..rounds {
        counter.strategy(to[round as usize % to.len()])?;
    }
    Ok(())
}

pub fn objects_move_without_losing_a_write(sessions: Sessions) {
    let (sum, moved) = result(sessions(3), |orca| {
        let counter = orca.create(Counter::default())?;
        for machine in orca.machines() {
            adder::fork(orca, On::Machine(machine), vec![counter.clone()], 100)?;
        }
        mover::fork(orca, On::Machine(1), counter.clone(), 30)?;
        let sum = counter.await_at_least(300)?;
        counter.strategy(Placement::Replicated)?;
        Ok((sum.max(counter.value()?), counter.statistics().moved))
    });
    assert_eq!(sum, 300);
    assert!(moved > 0);
}

pub fn objects_travel_in_arrays(sessions: Sessions) {
    let sum = result(sessions(2), |orca| share_array(orca, 60, 2));
    assert_eq!(sum, 120);
}

#[test]
fn a_thousand_objects_travel_in_an_array() {
    let sum = result(local(3), |orca| share_array(orca, 1000, 1));
    assert_eq!(sum, 1000);
}

/// Makes another machine add to `count` counters of all placements.
fn share_array(orca: &Orca, count: u32, times: u32) -> Result<i64, Error> {
    let place = |at| match at % 3 {
        0 => Placement::Owned(at / 3 % 2),
        1 => Placement::Replicated,
        _ => Placement::Adaptive,
    };
    let counters: Vec<_> = (0..count)
        .map(|at| orca.create_at(place(at), Counter::default()))
        .collect::<Result<_, _>>()?;
    adder::fork(orca, On::Machine(1), counters.clone(), times)?;
    let ends = counters.iter().map(|it| it.await_at_least(times.into()));
    Ok(ends.collect::<Result<Vec<_>, _>>()?.iter().sum())
}

#[test]
fn a_blocked_operation_has_no_effect() {
    for placement in [0, 1] {
        let main: Desks = match placement {
            0 => |orca| desk(orca, Placement::Replicated),
            _ => |orca| desk(orca, Placement::Owned(1)),
        };
        let (attempts, taken) = result(local(2), main);
        // Each completed operation counted once, even after several tries.
        assert_eq!((attempts, taken), (2, vec![7, 9, 8]));
    }
}

#[orca::process]
fn clerk(desk: Shared<Desk>) -> Result<(), Error> {
    assert_eq!(desk.take()?, 7);
    // The inbox is empty, so the first alternative blocks and the second is tried.
    assert_eq!(desk.take_or(9)?, 9);
    assert_eq!(desk.take()?, 8);
    Ok(())
}

fn desk(orca: &Orca, placement: Placement) -> Result<(u32, Vec<u32>), Error> {
    let mut state = Desk::default();
    state.inbox.room = 4;
    let desk = orca.create_at(placement, state)?;
    clerk::fork(orca, On::Machine(1), desk.clone())?;
    desk.put(7)?;
    while desk.taken()?.len() < 2 {
        thread::sleep(Duration::from_millis(1));
    }
    desk.put(8)?;
    while desk.taken()?.len() < 3 {
        thread::sleep(Duration::from_millis(1));
    }
    Ok((desk.attempts()?, desk.taken()?))
}

#[test]
fn objects_live_until_their_last_sharer_ends() {
    let (before, after) = result(local(2), |orca| {
        let kept = orca.create(Counter::default())?;
        for _ in 0..10 {
            let counter = orca.create(Counter::default())?;
            adder::fork(orca, On::Machine(1), vec![counter, kept.clone()], 5)?;
        }
        let before = kept.await_at_least(50)?;
        // All see the same order, so earlier ends come before a write.
        while orca.statistics().len() > 1 {
            thread::sleep(Duration::from_millis(1));
        }
        Ok((before, orca.statistics().len()))
    });
    assert_eq!((before, after), (50, 1));
}

#[test]
fn an_operation_that_panics_breaks_its_object_alone() {
    for placement in [0, 1] {
        let main: fn(&Orca) -> Result<Vec<String>, Error> = match placement {
            0 => |orca| explosion(orca, Placement::Replicated),
            _ => |orca| explosion(orca, Placement::Owned(1)),
        };
        let said = result(local(2), main);
        assert!(
            said[0].contains("operation explode of object") && said[0].contains("at 1"),
            "{said:?}"
        );
        assert!(
            said[1].contains("is broken by an operation that failed: explode: at 1"),
            "{said:?}"
        );
    }
}

fn explosion(orca: &Orca, placement: Placement) -> Result<Vec<String>, Error> {
    let (counter, other) = (
        orca.create_at(placement, Counter::default())?,
        orca.create_at(placement, Counter::default())?,
    );
    let first = counter.explode().expect_err("it panics").to_string();
    let second = counter.value().expect_err("it is broken").to_string();
    assert_eq!(other.increment()?, 1);
    assert_eq!(other.take(5)?, Err("5 of 1".into()));
    Ok(vec![first, second])
}

#[test]
fn an_object_that_does_io_has_one_copy() {
    let lines = result(local(2), |orca| {
        let refused = orca.create_at(Placement::Replicated, Log::default());
        let refused = refused.expect_err("it does I/O");
        assert!(matches!(refused, Error::NotReplicable { .. }), "{refused}");
        let log = orca.create(Log::default())?;
        let refused = log
            .strategy(Placement::Replicated)
            .expect_err("it does I/O");
        assert!(
            refused.to_string().contains("say is marked #[io]"),
            "{refused}"
        );
        log.strategy(Placement::Owned(1))?;
        log.say("a line".into())
    });
    assert_eq!(lines, 1);
}

#[test]
fn use_decides_where_an_object_goes() {
    let (location, moves) = result(local(2), |orca| {
        let counter = orca.create(Counter::default())?;
        assert_eq!(counter.location(), Location::Owned(0));
        reader::fork(orca, On::Machine(1), counter.clone(), 200)?;
        counter.await_at_least(1)?;
        Ok((counter.location(), counter.statistics().moves))
    });
    assert_eq!(location, Location::Replicated, "{moves:?}");
    assert!(moves[0].starts_with("replicated: "), "{moves:?}");
}

#[orca::process]
fn reader(counter: Shared<Counter>, times: u32) -> Result<(), Error> {
    (0..times).try_for_each(|_| counter.value().map(drop))?;
    counter.add(1)
}

#[orca::process]
fn waiter(counter: Shared<Counter>) {
    let ended = counter.await_at_least(1).expect_err("the program ends");
    assert!(matches!(ended, Error::Finished), "{ended}");
}

#[test]
fn finish_ends_a_program_whose_processes_wait() {
    for ended in run(local(2), |orca| {
        let counter = orca.create(Counter::default())?;
        waiter::fork(orca, On::Machine(1), counter.clone())?;
        waiter::fork(orca, On::Machine(0), counter.clone())?;
        orca.finish()
    }) {
        ended.expect("the program ends well");
    }
}

#[orca::process]
fn failing() -> Result<(), String> {
    Err("no bread".into())
}

#[test]
fn a_process_that_fails_is_named() {
    let mut ended = run(local(2), |orca| failing::fork(orca, On::Machine(1)));
    let error = ended
        .pop()
        .expect("machine 1")
        .expect_err("its process failed");
    assert!(
        error
            .to_string()
            .contains("failing on machine 1 failed: no bread"),
        "{error}"
    );
    ended
        .pop()
        .expect("machine 0")
        .expect("nothing failed here");
}

#[test]
fn an_object_of_many_megabytes_is_moved_and_read() {
    let length = result(local(2), |orca| {
        let megabytes = megabytes();
        let mut state = Buffer::new(10);
        state.items = vec![7; megabytes << 18].into();
        let buffer = orca.create_at(Placement::Owned(1), state)?;
        let length = buffer.len()?;
        buffer.strategy(Placement::Replicated)?;
        assert_eq!(buffer.len()?, length);
        buffer.strategy(Placement::Owned(0))?;
        buffer.get()?;
        buffer.len()
    });
    assert_eq!(length, (megabytes() << 18) - 1);
}

/// 100 in `make soak`.
fn megabytes() -> usize {
    let said = std::env::var("ORCA_MEGABYTES");
    said.map_or(8, |said| said.parse().expect("a number"))
}

#[test]
fn another_executable_is_refused() {
    let sessions = local(2);
    let run = |(rank, session): (usize, Session)| {
        std::thread::spawn(move || {
            let program = orca::Program::default().hash([rank as u8; 32]);
            program.run(&session, |_| ())
        })
    };
    let threads: Vec<_> = sessions.into_iter().enumerate().map(run).collect();
    let ended: Vec<_> = threads
        .into_iter()
        .map(|it| it.join().expect("no panic"))
        .collect();
    let refused = ended
        .iter()
        .filter(|it| matches!(it, Err(Error::OtherExecutable)));
    assert_eq!(refused.count(), 1, "{ended:?}");
}

#[test]
fn an_object_by_itself_blocks_with_a_reason() {
    let mut buffer = Buffer::new(1);
    buffer.put(1);
    let blocked = std::panic::catch_unwind(move || buffer.put(2)).expect_err("it is full");
    let said = blocked.downcast_ref::<String>().expect("words");
    assert!(
        said.contains("local deadlock: put of") && said.contains("Buffer"),
        "{said}"
    );
}
