//! Tests of the driver: the receiving end is not left to a thread that does not take it.

use std::num::NonZeroUsize;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::driver_state::Role;
use super::*;
use crate::platform::bootstrap::Bootstrap;
use crate::platform::local::LocalInbox;
use crate::platform::{Event, Inbox, Local, Platform, Secret, Tcp, Udp, udp};
use crate::protocol::group::Myself;
use crate::protocol::{Answer, Delivery};
use crate::session::dispatcher::Dispatcher;
use crate::session::{SILENCE, pending_requests};
use crate::thread::Semaphore;

/// Bound on steps that never take so long.
const LIMIT: Duration = Duration::from_secs(60);
const SERVICE: u64 = 7;

type Parts = (Local, LocalInbox, Myself, Arc<Dispatcher>);

fn parts() -> [Parts; 2] {
    let mut ends = Local::session(2).into_iter();
    [0, 1].map(|rank| {
        let myself = Myself {
            rank,
            size: 2,
            is_founder: true,
            birth: 1,
            silence: SILENCE,
        };
        let (_, local, inbox) = ends.next().expect("two");
        (local, inbox, myself, Arc::default())
    })
}

/// Makes a node without a thread of its own.
fn alone() -> Arc<Node<Local>> {
    let [(local, inbox, myself, dispatcher), _] = parts();
    Node::new(local, inbox, myself, dispatcher)
}

/// Looks until something holds; returns whether it does in the end.
fn comes_to_hold(holds: impl Fn() -> bool) -> bool {
    let until = Instant::now() + LIMIT;
    while !holds() && Instant::now() < until {
        thread::sleep(Duration::from_micros(100));
    }
    holds()
}

#[test]
fn a_process_answers_while_a_fiber_that_looks_has_no_turn() {
    let [busy, other] = parts().map(|(local, inbox, myself, dispatcher)| {
        Node::begin(local, inbox, myself, dispatcher).expect("a thread")
    });
    let is_served = Arc::new(AtomicBool::new(false));
    let serve = is_served.clone();
    let upcall = move |_| serve.store(true, Ordering::SeqCst);
    busy.dispatcher
        .on_call(SERVICE, Location::caller(), Box::new(upcall));
    // A fiber comes so far before it yields to one that computes.
    let looks = busy.want();
    assert!(comes_to_hold(|| busy.progress_thread.is_far()));
    let call = Request::Call { service: SERVICE };
    other.request(0, call, Message::new(), None);
    assert!(comes_to_hold(|| is_served.load(Ordering::SeqCst)));
    drop(looks);
    busy.stop();
    other.stop();
}

/// Makes a session whose process runs fibers on so many servers, and its other end.
fn of_fibers(
    servers: usize,
    main: impl FnOnce(&Node<Local>) + Send + 'static,
) -> (Arc<Node<Local>>, Arc<Node<Local>>, thread::JoinHandle<()>) {
    let [node, other] = parts().map(|(local, inbox, myself, dispatcher)| {
        Node::begin(local, inbox, myself, dispatcher).expect("a thread")
    });
    let servers = NonZeroUsize::new(servers).expect("some");
    let own = node.clone();
    let run = move || {
        // SAFETY: these tests keep nothing that belongs to an OS thread over a switch.
        let run = unsafe { crate::thread::run_on(servers, move || main(&own)) };
        run.expect("fibers");
    };
    (node, other, thread::spawn(run))
}

/// Returns whether a thread or fiber other than the progress thread has the receiving end, and
/// leaves the progress thread aside.
fn is_driven_by_who_waits(node: &Node<Local>) -> bool {
    comes_to_hold(|| node.progress_thread.is_far() && node.driver.state().is_taken())
}

#[test]
fn a_fiber_that_waits_alone_drives_and_is_woken_for_what_comes_to_others() {
    for servers in 1..=3 {
        let (gate, waits_no_more) = (Arc::new(Semaphore::new(0)), Arc::<AtomicBool>::default());
        let passes = (gate.clone(), waits_no_more.clone());
        let (node, other, process) = of_fibers(servers, move |node| {
            let (gate, ends) = passes.clone();
            let waiter = node.itself.clone();
            drop(crate::thread::spawn(move || {
                gate.p();
                ends.store(true, Ordering::SeqCst);
                waiter.upgrade().expect("a session").nudge();
            }));
            let mut is_over = || passes.1.load(Ordering::SeqCst);
            assert!(node.wait(Interest::Change, &mut is_over, Some(Instant::now() + LIMIT)));
        });
        assert!(is_driven_by_who_waits(&node));
        // Nothing comes for the driver.
        gate.v();
        process.join().expect("no panic");
        node.stop();
        other.stop();
    }
}

#[test]
fn fibers_that_wait_for_each_other_have_one_attend_to_the_session() {
    for servers in 1..=3 {
        let gate = Arc::new(Semaphore::new(0));
        let opens = gate.clone();
        let (node, other, process) = of_fibers(servers, move |node| {
            node.start_progress_fiber();
            gate.p();
        });
        let upcall = move |_| opens.v();
        node.dispatcher
            .on_call(SERVICE, Location::caller(), Box::new(upcall));
        assert!(is_driven_by_who_waits(&node));
        let call = Request::Call { service: SERVICE };
        other.request(0, call, Message::new(), None);
        process.join().expect("no panic");
        assert!(comes_to_hold(|| !node
            .has_progress_fiber
            .load(Ordering::SeqCst)));
        node.stop();
        other.stop();
    }
}

#[test]
fn a_session_that_ends_lets_its_attendant_go() {
    let (node, other, process) = of_fibers(1, |node| {
        node.start_progress_fiber();
        // The progress fiber drives meanwhile.
        crate::thread::sleep(Duration::from_millis(20));
        node.stop();
    });
    process.join().expect("no panic");
    assert!(node.is_over());
    other.stop();
}

#[test]
fn who_was_woken_to_drive_and_goes_on_has_another_drive() {
    let node = alone();
    let first = node.waiting.enter(Interest::Change);
    let second = node.waiting.enter(Interest::Change);
    node.pass_on();
    assert!(first.is_woken() && !second.is_woken());
    drop(first);
    node.decline();
    assert!(second.is_woken());
}

#[test]
fn who_ends_its_wait_has_the_own_thread_look_after_who_waits_longer() {
    let node = alone();
    let stay = node.waiting.enter(Interest::Change);
    let is_wanted = || node.driver.state().is_wanted();
    thread::scope(|scope| {
        node.driver.want();
        let own = scope.spawn(|| node.progress_thread.stand_far(is_wanted, 2 * LIMIT));
        assert!(comes_to_hold(|| node.progress_thread.is_far()));
        node.stop_wanting();
        assert!(comes_to_hold(|| !node.progress_thread.is_far()));
        assert!(!own.join().expect("no panic"), "nobody has called it");
    });
    drop(stay);
}

/// Otherwise the upcall could not send to the new process, since there is no such rank for it yet.
#[test]
fn an_upcall_knows_who_has_joined_by_what_came_with_its_message() {
    let call = |node: &Arc<Node<Local>>| {
        let (asks, knows) = (node.clone(), Arc::<AtomicBool>::default());
        let known = knows.clone();
        let upcall = move |_| known.store(asks.dispatcher.has_joined(5), Ordering::SeqCst);
        (node.dispatcher).on_call(SERVICE, Location::caller(), Box::new(upcall));
        knows
    };
    let (rank, name, from, service, id) = (5, "later".to_string(), 1, SERVICE, 1);
    let joins = Event::Joined { rank, name };
    let mut frame = Message::new();
    Envelope::Call { service, id }.push_onto(&mut frame);
    // The first is a frame that no waiter took as it came; the second was taken.
    let payload = Message::new();
    let taken = Delivery::Call {
        from,
        service,
        id,
        payload,
    };
    for (frame, taken) in [(Some(frame), None), (None, Some(taken))] {
        let node = alone();
        let knows = call(&node);
        let mut end = node
            .driver
            .try_drive(Role::ProgressThread)
            .expect("nobody has it");
        let frame = frame.map(|frame| Event::Frame { from, frame });
        end.events.extend(frame);
        end.events.push(joins.clone());
        node.have_taken(&mut end, None, taken, &mut Nobody);
        assert!(knows.load(Ordering::SeqCst));
    }
}

/// Makes a call that is not answered within a moment, and waits for it as its caller does.
fn calls(node: &Node<Local>, end: &mut pending_requests::End<'_>) {
    let call = Request::Call { service: SERVICE };
    let moment = Some(Duration::from_millis(1));
    node.request_and_drive(call, Message::new(), moment, end);
}

#[test]
fn an_answer_that_comes_later_is_kept_by_whoever_drives_then() {
    let [(local, inbox, myself, dispatcher), (peer, mut peers, ..)] = parts();
    let node = Node::new(local, inbox, myself, dispatcher);
    let mut end = pending_requests::End::from(1, &node.dispatcher.pending);
    calls(&node, &mut end);
    assert!(!end.has_come());
    let mut events = Vec::new();
    peers.receive(None, &mut events);
    let Some(Event::Frame { from: 0, frame }) = events.pop() else {
        panic!("no call came");
    };
    let Ok(Envelope::Call { id, .. }) = Envelope::take_off(&mut frame.clone()) else {
        panic!("{frame:?} is no call");
    };
    let kind = Answer::Value;
    let mut reply = Message::from(b"late".as_slice());
    Envelope::Reply { id, kind }.push_onto(&mut reply);
    peer.send(0, reply);
    node.look();
    assert!(end.holds());
}

#[test]
fn who_drives_for_an_answer_hears_that_the_peer_is_lost() {
    let [(local, inbox, myself, dispatcher), (peer, ..)] = parts();
    let node = Node::new(local, inbox, myself, dispatcher);
    // The loss is told in the very round in which the caller waits.
    peer.leave(Duration::ZERO);
    let mut end = pending_requests::End::from(1, &node.dispatcher.pending);
    calls(&node, &mut end);
    assert!(end.holds());
}

/// Makes a node without a thread of its own over a platform, and its peer's end.
fn joined<P: Platform>(launch_info: impl Fn(Rank) -> LaunchInfo) -> (Arc<Node<P>>, (P, P::Inbox)) {
    let joining = [0, 1].map(|rank| {
        let info = launch_info(rank);
        thread::spawn(move || P::join(&info).expect("joined"))
    });
    let [(platform, inbox), peer] = joining.map(|joining| joining.join().expect("no panic"));
    let [(_, _, myself, dispatcher), _] = parts();
    (Node::new(platform, inbox, myself, dispatcher), peer)
}

/// Returns whether the progress thread was called: while a thread drives or not, and when that one
/// leaves.
fn are_calls<P: Platform>(node: &Node<P>, somebody_drives: bool, act: impl FnOnce()) -> [bool; 2] {
    let turn = node.take_turn().filter(|_| somebody_drives);
    act();
    let is_called = node.progress_thread.stand_aside(Duration::ZERO);
    drop(turn);
    [is_called, node.progress_thread.stand_aside(Duration::ZERO)]
}

/// Returns whether the progress thread is called when a process sends more over tcp than the
/// connection holds: while a thread has the receiving end or not, and when that one leaves.
fn is_called_for_what_is_kept(somebody_drives: bool) -> [bool; 2] {
    let any = "127.0.0.1:0".parse().expect("an address");
    let bootstrap = Bootstrap::hold(any, 2, Secret([7; 16])).expect("a port");
    let (node, _peer) = joined::<Tcp>(|rank| bootstrap.launch_info(Tcp::NAME, rank));
    let call = Envelope::Call {
        service: SERVICE,
        id: 1,
    };
    are_calls(&node, somebody_drives, || {
        node.give_plain(1, &call, Message::from(vec![7; 64 << 20]));
        assert!(node.platform.has_kept());
    })
}

/// The sender may not come back for long. A driver sends the rest while it drives.
#[test]
fn the_own_thread_is_called_for_what_did_not_go_out_unless_another_drives() {
    assert_eq!(is_called_for_what_is_kept(false), [true, false]);
    assert_eq!(is_called_for_what_is_kept(true), [false, true]);
}

/// Does the same for bytes that wait in a link over udp, whose window is full, or whose peer has
/// not answered yet.
fn is_called_for_what_waits(length: usize, somebody_drives: bool) -> [bool; 2] {
    let bootstrap = udp::Bootstrap::new(2, Secret([7; 16])).expect("a port");
    let (node, _peer) = joined::<Udp>(|rank| bootstrap.launch_info(rank));
    let to_port = Envelope::Port {
        port: 1,
        tag: 0,
        receipt: None,
    };
    are_calls(&node, somebody_drives, || {
        node.post(1, to_port, Message::from(vec![7; length]));
    })
}

/// Short messages are many, and their sender mostly waits soon.
#[test]
fn the_own_thread_is_called_for_the_end_of_a_long_message_unless_another_drives() {
    assert_eq!(is_called_for_what_waits(1 << 20, false), [true, false]);
    assert_eq!(is_called_for_what_waits(1 << 20, true), [false, true]);
    assert_eq!(is_called_for_what_waits(100, false), [false, false]);
    assert_eq!(is_called_for_what_waits(100, true), [false, false]);
}

/// A look says nothing about what a spin would be in the way of.
#[test]
fn the_wait_after_something_was_sent_is_told_of_it_and_no_look_before() {
    let [(local, inbox, myself, dispatcher), _peer] = parts();
    let node = Node::new(local, inbox, myself, dispatcher);
    let has_sent = || node.has_sent.load(Ordering::SeqCst);
    let call = Request::Call { service: SERVICE };
    node.request(1, call, Message::new(), None);
    node.look();
    assert!(has_sent());
    let soon = Instant::now() + Duration::from_millis(1);
    node.wait(Interest::Change, &mut || false, Some(soon));
    assert!(!has_sent());
}

#[test]
fn who_comes_to_wait_as_another_lets_go_does_not_wait_for_ever() {
    for _ in 0..500 {
        let node = alone();
        let turn = node.take_turn().expect("nobody has it");
        let waits = || {
            let stay = node.waiting.enter(Interest::Change);
            let since = Instant::now();
            if node.driver.state().is_taken() {
                stay.sleep(Some(since + LIMIT));
            }
            since.elapsed()
        };
        let waited = thread::scope(|scope| {
            let waits = scope.spawn(waits);
            drop(turn);
            waits.join().expect("no panic")
        });
        assert!(waited < LIMIT, "nobody has woken it");
    }
}
