//! Quiescence, and the clocks of processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use antiphon_panda::{Error, Message, Port, Quiescence, Session};

use super::{Make, run};

/// Sends a message of work that becomes more work for `hops` further hops.
fn send(work: &Port, quiescence: &Quiescence, to: u32, hops: u32) {
    quiescence.sent(to).unwrap();
    work.send(to, 0, Message::of(&hops).unwrap()).unwrap();
}

/// Has an upcall do work: each message with hops left becomes two with one hop less. Returns how
/// many were done here.
fn work(session: &Session, quiescence: &Quiescence) -> (Port, Arc<AtomicU64>) {
    let (own, size) = (session.rank(), session.size());
    let (port, done) = (session.port("work"), Arc::new(AtomicU64::new(0)));
    let (quiescence, out, count) = (quiescence.clone(), port.clone(), done.clone());
    port.on_message(move |arrived| {
        quiescence.active();
        quiescence.received(arrived.from).unwrap();
        count.fetch_add(1, Relaxed);
        let hops: u32 = arrived.payload.value().unwrap();
        if hops > 0 {
            send(&out, &quiescence, (arrived.from + hops) % size, hops - 1);
            send(&out, &quiescence, (own + 1) % size, hops - 1);
        }
        quiescence.passive();
    })
    .unwrap();
    (port, done)
}

/// Returns how many messages of work one with `hops` hops becomes, itself included.
fn becomes(hops: u32) -> u64 {
    (1 << (hops + 1)) - 1
}

pub fn a_verdict_comes_when_all_work_is_done(make: Make) {
    const HOPS: u32 = 5;
    for size in [1, 2, 4] {
        run(make, size, move |session| {
            let quiescence = session.quiescence().unwrap();
            let (port, done) = work(&session, &quiescence);
            let all = session.everyone().unwrap();
            all.barrier().unwrap();
            for round in 1..=4 {
                for to in 0..size {
                    send(&port, &quiescence, to, HOPS);
                }
                let own = (session.rank(), round);
                quiescence.report(Message::of(&own).unwrap()).unwrap();
                quiescence.passive();
                let verdict = quiescence.wait(None).unwrap().expect("it waits for ever");
                quiescence.active();
                assert_eq!(verdict.number, round);
                let reports = verdict.reports.iter();
                let said: Vec<(u32, u64)> =
                    reports.map(|(_, said)| said.value().unwrap()).collect();
                let all_said: Vec<_> = (0..size).map(|rank| (rank, round)).collect();
                assert_eq!(said, all_said);
                let total = all.all_reduce(&done.load(Relaxed), |a, b| a + b).unwrap();
                assert_eq!(total, u64::from(size * size) * becomes(HOPS) * round);
            }
        });
    }
}

pub fn work_of_a_process_that_left_is_waited_for(make: Make) {
    const HOPS: u32 = 4;
    run(make, 3, |session| {
        let quiescence = session.quiescence().unwrap();
        let (own, size) = (session.rank(), session.size());
        let all = session.everyone().unwrap();
        let done = Arc::new(AtomicU64::new(0));
        let (counts, port, count) = (quiescence.clone(), session.port("chain"), done.clone());
        let out = port.clone();
        if own != 2 {
            port.on_message(move |arrived| {
                counts.active();
                counts.received(arrived.from).unwrap();
                count.fetch_add(1, Relaxed);
                let hops: u32 = arrived.payload.value().unwrap();
                if hops > 0 {
                    send(&out, &counts, 1 - own, hops - 1);
                }
                counts.passive();
            })
            .unwrap();
        }
        all.barrier().unwrap();
        if own == 2 {
            send(&port, &quiescence, 0, HOPS);
            send(&port, &quiescence, 1, HOPS);
            quiescence.leave();
            assert!(quiescence.wait(None).is_err(), "it takes part no more");
            assert!(session.quiescence().is_err(), "and never again");
        } else {
            quiescence.passive();
            let verdict = quiescence.wait(None).unwrap().expect("it waits for ever");
            let members: Vec<u32> = verdict.reports.iter().map(|(rank, _)| *rank).collect();
            assert_eq!(members, [0, 1]);
            assert!(verdict.lost.is_empty());
        }
        let total = all.all_reduce(&done.load(Relaxed), |a, b| a + b).unwrap();
        assert_eq!(total, u64::from(2 * (HOPS + 1)));
        assert_eq!(size, 3);
    });
}

/// Offsets and their uncertainties add up along any path between clocks, also there and back.
pub fn clocks_differ_by_what_is_measured(make: Make) {
    const SIZE: u32 = 3;
    run(make, SIZE, |session| {
        let all = session.everyone().unwrap();
        all.barrier().unwrap();
        let measure = |rank| {
            let before = session.clock();
            let offset = session.clock_offset(rank).unwrap();
            assert!(before <= offset.measured_at && offset.measured_at <= session.clock());
            (offset.offset_ns, offset.uncertainty_ns)
        };
        let row: Vec<(i64, u64)> = (0..SIZE).map(measure).collect();
        let own = session.rank() as usize;
        assert_eq!(row[own], (0, 0));
        let error = session.clock_offset(SIZE).unwrap_err();
        assert!(matches!(error, Error::NoSuchRank { .. }), "{error}");
        // Each process answers until then.
        all.barrier().unwrap();
        let rows = all.gather(0, &row).unwrap();
        // A leaving member ends a measurement that others have not finished.
        all.barrier().unwrap();
        let Some(rows) = rows else {
            return;
        };
        let places = 0..SIZE as usize;
        for (from, by) in places
            .clone()
            .flat_map(|from| places.clone().map(move |by| (from, by)))
        {
            for to in places.clone() {
                let (first, second, whole) = (rows[from][by], rows[by][to], rows[from][to]);
                let error = (first.0 + second.0 - whole.0).unsigned_abs();
                let uncertainty = first.1 + second.1 + whole.1;
                assert!(error <= uncertainty, "{from}, {by}, {to}: {rows:?}");
            }
        }
    });
}
