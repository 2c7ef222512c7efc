//! The conformance suite over Open MPI, and tests of this platform. This test starts itself under
//! `mpirun` as the processes of a session.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use antiphon_panda::platform::mpi::Mpi;
use antiphon_panda::platform::{Event, Inbox, LaunchInfo, Platform, Rank};
use antiphon_panda::session::SILENCE;
use antiphon_panda::{Call, Message, Session};

use crate::{conformance, mpirun};

const MEMBERS: u32 = 3;
const LENGTHS: [usize; 6] = [0, 1, 300, 16_384, 70_001, 3 << 20];

/// Runs an ignored test of this module as `count` processes. `check` gets their exit code and
/// output.
fn run(member: &str, count: u32, check: impl FnOnce(Option<i32>, &str)) {
    mpirun::run(module_path!(), member, count, check);
}

#[test]
fn frames_of_any_length_reach_everybody_in_order() {
    run("member_sends_to_everybody", MEMBERS, |code, output| {
        assert_eq!(code, Some(0), "{output}");
    });
}

/// The session ends with a message that names the process: Open MPI continues for no process.
#[test]
fn a_process_that_dies_ends_the_session() {
    run("member_dies", MEMBERS, |code, output| {
        assert!(code.is_some_and(|code| code != 0), "{output}");
        let says = output.contains("rank 1") && output.contains("signal 9");
        assert!(says && !output.contains("goes on"), "{output}");
    });
}

/// Processes that wait for a stopped one learn of it. None then waits for its leave for ever, as
/// MPI would.
#[test]
fn a_process_that_is_stopped_ends_the_session_of_those_who_leave() {
    for member in ["member_stops", "member_stops_unseen"] {
        run(member, MEMBERS, |code, output| {
            assert!(code.is_some_and(|code| code != 0), "{output}");
            let is_reported = output.contains("rank 1 is lost: it has not answered");
            assert_eq!(is_reported, member == "member_stops", "{output}");
            let why = "rank 1 is lost: it does not answer. Over mpi";
            assert!(output.contains(why), "{output}");
        });
    }
}

/// Until the process is continued the others go on. It was only stopped for a while, and then all
/// end well.
#[test]
fn a_process_that_is_stopped_for_a_while_ends_nothing() {
    run("member_is_continued", MEMBERS, |code, output| {
        assert_eq!(code, Some(0), "{output}");
        let is_reported = "rank 1 is lost: it has not answered";
        assert!(output.contains(is_reported), "{output}");
        assert!(output.contains("rank 2 goes on"), "{output}");
        assert!(output.contains("rank 1 is back"), "{output}");
    });
}

/// Open MPI takes a process that exits before it has ended MPI for a failed one.
#[test]
fn a_process_exits_well_while_another_thread_leaves() {
    run("member_exits_early", MEMBERS, |code, output| {
        assert_eq!(code, Some(0), "{output}");
    });
}

#[test]
fn launch_info_that_mpi_does_not_give_is_refused() {
    run("member_with_wrong_launch_info", 1, |code, output| {
        assert_eq!(code, Some(0), "{output}");
    });
}

/// Both ends see the progress of a frame. Otherwise a peer on a slow network would seem silent.
#[test]
fn a_long_frame_is_seen_to_come_and_to_be_taken() {
    run("member_of_a_long_frame", 2, |code, output| {
        assert_eq!(code, Some(0), "{output}");
    });
}

#[test]
#[ignore = "one process of frames_of_any_length_reach_everybody_in_order"]
fn member_sends_to_everybody() {
    let info = LaunchInfo::from_environment().expect("mpirun gives launch info");
    let (mpi, mut inbox) = Mpi::join(&info).expect("joined");
    let others = (0..info.size).filter(|&to| to != info.rank);
    for length in LENGTHS {
        for to in others.clone() {
            let mut frame = Message::from(vec![info.rank as u8; length]);
            frame.push(&(length as u64).to_le_bytes());
            let _ = mpi.send(to, frame);
        }
    }
    let mut next = vec![0; info.size as usize];
    receive(&mut inbox, |from, mut frame| {
        let length = u64::from_le_bytes(frame.pop().expect("a header"));
        assert_eq!(length as usize, LENGTHS[next[from as usize]]);
        assert!(frame.to_bytes() == vec![from as u8; length as usize]);
        next[from as usize] += 1;
        next.iter().sum::<usize>() == LENGTHS.len() * (next.len() - 1)
    });
}

#[test]
#[ignore = "one process of a_long_frame_is_seen_to_come_and_to_be_taken"]
fn member_of_a_long_frame() {
    const LONG: usize = 64 << 20;
    let info = LaunchInfo::from_environment().expect("mpirun gives launch info");
    let (mpi, mut inbox) = Mpi::join(&info).expect("joined");
    let (is_sender, peer) = (info.rank == 1, 1 - info.rank);
    if is_sender {
        let _ = mpi.send(peer, Message::from(vec![7; LONG]));
        assert!(mpi.transfer(peer).waiting > 0);
    }
    let (mut steps, mut events) = (BTreeSet::new(), Vec::new());
    let until = Instant::now() + Duration::from_secs(100);
    let frame = loop {
        let transfer = mpi.transfer(peer);
        steps.insert(if is_sender {
            transfer.taken
        } else {
            transfer.came
        });
        inbox.receive(Some(Instant::now()), &mut events);
        if let Some(Event::Frame { frame, .. }) = events.pop() {
            break frame;
        }
        assert!(Instant::now() < until, "it did not come");
    };
    assert!(steps.len() > 3, "{steps:?}");
    if !is_sender {
        assert!(frame.to_bytes() == vec![7; LONG]);
        let _ = mpi.send(peer, Message::copy_of(b"whole"));
    }
}

#[test]
#[ignore = "one process of a_process_that_dies_ends_the_session"]
fn member_dies() {
    let session = session(MEMBERS).pop().expect("its own");
    session.everyone().unwrap().barrier().unwrap();
    if session.rank() == 1 {
        // SAFETY: ends this process.
        unsafe { libc::raise(libc::SIGKILL) };
    }
    let ended = session.port("nothing").receive(Some(1), None);
    println!("it goes on: {:?}", ended.map(|arrived| arrived.tag));
}

#[test]
#[ignore = "one process of a_process_that_is_stopped_ends_the_session_of_those_who_leave"]
fn member_stops() {
    let session = session_where_one_stops();
    let reported = session.port("nothing").receive(Some(1), None);
    println!("{}", reported.expect_err("nothing comes"));
}

#[test]
#[ignore = "one process of a_process_that_is_stopped_ends_the_session_of_those_who_leave"]
fn member_stops_unseen() {
    drop(session_where_one_stops());
}

#[test]
#[ignore = "one process of a_process_that_is_stopped_for_a_while_ends_nothing"]
fn member_is_continued() {
    let session = session(MEMBERS).pop().expect("its own");
    let [reported, end] = ["told", "end"].map(|name| session.port(name));
    let answer = |call: Call| call.reply.send(Message::new());
    session.serve("answer", answer).expect("a name of its own");
    session.everyone().unwrap().barrier().unwrap();
    match session.rank() {
        0 => {
            let process = reported
                .receive(Some(1), None)
                .expect("it says which it is");
            let lost = reported.receive(Some(1), None).expect_err("it stops");
            println!("{lost}");
            let answer = session.call(2, "answer", Message::new(), None);
            answer.expect("that one is not lost");
            println!("rank 2 goes on");
            let process = process.payload.value().expect("a number");
            // SAFETY: continues a process of this session, which has not ended: it waits for this
            // one.
            unsafe { libc::kill(process, libc::SIGCONT) };
            reported.receive(Some(1), None).expect("it goes on");
            println!("rank 1 is back");
            for rank in 1..MEMBERS {
                end.send(rank, 0, Message::new()).expect("they are there");
            }
        }
        1 => {
            let process = std::process::id() as i32;
            let number = Message::of(&process).expect("a number");
            reported
                .send_synchronously(0, 0, number)
                .expect("it is taken");
            // SAFETY: stops this process.
            unsafe { libc::raise(libc::SIGSTOP) };
            reported.send(0, 0, Message::new()).expect("it is there");
            end.receive(Some(0), None).expect("it is sent");
        }
        _ => drop(end.receive(Some(0), None).expect("it is sent")),
    }
}

/// Returns a session. By then rank 1 has stopped.
fn session_where_one_stops() -> Session {
    let info = LaunchInfo::from_environment().expect("mpirun gives launch info");
    let (mpi, inbox) = Mpi::join(&info).expect("joined");
    let session = Session::over(mpi, inbox, &info, Duration::from_secs(1)).expect("a thread");
    session.everyone().unwrap().barrier().unwrap();
    if session.rank() == 1 {
        // SAFETY: stops this process.
        unsafe { libc::raise(libc::SIGSTOP) };
    }
    std::thread::sleep(Duration::from_millis(200));
    session
}

#[test]
#[ignore = "one process of a_process_exits_well_while_another_thread_leaves"]
fn member_exits_early() {
    let session = session(MEMBERS).pop().expect("its own");
    session.everyone().unwrap().barrier().unwrap();
    if session.rank() == 0 {
        // The thread waits for the other processes while this one exits.
        std::thread::spawn(move || drop(session));
        std::thread::sleep(Duration::from_millis(200));
    } else {
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[test]
#[ignore = "the process of launch_info_that_mpi_does_not_give_is_refused"]
fn member_with_wrong_launch_info() {
    let info = LaunchInfo::from_environment().expect("mpirun gives launch info");
    let wrong = LaunchInfo { size: 7, ..info };
    let refusal = Mpi::join(&wrong).err().expect("refused").to_string();
    assert!(refusal.contains("rank 0 of 1"), "{refusal}");
}

fn receive(inbox: &mut impl Inbox, mut is_enough: impl FnMut(Rank, Message) -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    let mut events = Vec::new();
    loop {
        inbox.receive(Some(end), &mut events);
        for event in events.drain(..) {
            if let Event::Frame { from, frame } = event
                && is_enough(from, frame)
            {
                return;
            }
        }
        assert!(Instant::now() < end, "it did not come");
    }
}

static IS_MADE: AtomicBool = AtomicBool::new(false);

/// Returns this process's part of a session, if `mpirun` started `size` processes.
fn session(size: u32) -> Vec<Session> {
    let info = LaunchInfo::from_environment().expect("mpirun gives launch info");
    if info.size != size {
        return Vec::new();
    }
    let (mpi, inbox) = Mpi::join(&info).expect("joined");
    IS_MADE.store(true, Relaxed);
    vec![Session::over(mpi, inbox, &info, SILENCE).expect("a thread")]
}

/// Runs each test with the sizes of its sessions. A process belongs to one size.
macro_rules! conformance_under_mpirun {
    ($($test:ident $(of $module:ident)? : $($size:literal)+;)*) => {
        mod conforms {
            $(#[test]
            fn $test() {
                for size in [$($size),+] {
                    super::run(concat!("member::", stringify!($test)), size, |code, output| {
                        assert_eq!(code, Some(0), "{size} processes: {output}");
                    });
                }
            })*
        }

        mod member {
            use super::*;

            $(#[test]
            #[ignore = "one process of the same test under mpirun"]
            fn $test() {
                conformance::$($module::)?$test(session);
                assert!(IS_MADE.load(Relaxed), "the test makes no session of this size");
            })*
        }
    };
}

// Two kinds of tests are left out: one process ends before the others, or one process holds two
// members. A session of MPI ends for all its processes at once, and each has one part.
conformance_under_mpirun! {
    messages_come_in_their_senders_order: 3;
    messages_of_all_lengths_arrive_whole: 2;
    a_receiver_chooses_by_sender_and_tag: 3;
    calls_are_answered_at_once_or_later_and_failures_name_the_peer: 2;
    a_group_has_one_order: 3;
    groups_of_different_members_have_an_order_each: 3;
    a_joiner_begins_at_one_point: 3;
    collectives_agree: 1 2 3 5;
    communicators_nobody_overruns: 3;
    communicators_carry_bytes: 3;
    communicators_that_disagree_end_with_an_error: 2;
    numbers_are_reduced_as_by_a_loop: 2 3 4;
    all_get_the_same_bits: 3 4 5;
    arrays_that_differ_end_with_an_error: 3;
    reductions_may_run_ahead: 3;
    communicators_of_a_group_are_of_one_view: 3;
    communicators_of_some_members_end_with_the_view: 4;
    upcalls_may_send: 2;
    many_fibers_of_a_process_are_in_a_call_at_once of threads: 2;
    an_upcall_wakes_who_waits_for_a_condition: 2;
}
