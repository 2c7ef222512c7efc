//! `mpi` under `mpirun`: this test starts itself as the processes of a session.

use std::process::Command;
use std::time::{Duration, Instant};

use antiphon_panda::Message;
use antiphon_panda::platform::mpi::Mpi;
use antiphon_panda::platform::{Event, Inbox, Platform, Rank, Seat};

const MEMBERS: u32 = 3;
const LENGTHS: [usize; 6] = [0, 1, 300, 16_384, 70_001, 3 << 20];

#[test]
fn frames_of_any_length_reach_everybody_in_order() {
    run("member_sends_to_everybody", MEMBERS, |code, output| {
        assert_eq!(code, Some(0), "{output}");
    });
}

#[test]
fn a_process_that_dies_ends_the_session() {
    run("member_dies", 2, |code, output| {
        assert_ne!(code, Some(0), "{output}");
        assert!(output.contains("signal 9"), "{output}");
    });
}

#[test]
fn a_seat_that_mpi_does_not_give_is_refused() {
    run("member_with_a_wrong_seat", 1, |code, output| {
        assert_eq!(code, Some(0), "{output}");
    });
}

/// Runs a function of this file as so many processes; `check` gets mpirun's exit code and what was written.
fn run(member: &str, count: u32, check: impl FnOnce(Option<i32>, &str)) {
    if std::env::var_os("OMPI_COMM_WORLD_RANK").is_some() {
        return;
    }
    let program = std::env::current_exe().expect("this test has a path");
    let mut mpirun = Command::new("mpirun");
    mpirun
        .args([
            "--allow-run-as-root",
            "--oversubscribe",
            "-n",
            &count.to_string(),
        ])
        .arg(program)
        .args([
            "--exact",
            member,
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ]);
    let output = match mpirun.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: there is no mpirun (apt-get install openmpi-bin)");
            return;
        }
        Err(error) => panic!("mpirun: {error}"),
    };
    let written = [output.stdout, output.stderr].concat();
    check(output.status.code(), &String::from_utf8_lossy(&written));
}

#[test]
#[ignore = "one process of frames_of_any_length_reach_everybody_in_order"]
fn member_sends_to_everybody() {
    let seat = Seat::from_environment().expect("mpirun gives a seat");
    let (mpi, mut inbox) = Mpi::join(&seat).expect("joined");
    let others = (0..seat.size).filter(|&to| to != seat.rank);
    for length in LENGTHS {
        for to in others.clone() {
            let mut frame = Message::from(vec![seat.rank as u8; length]);
            frame.push(&(length as u64).to_le_bytes());
            let _ = mpi.send(to, frame);
        }
    }
    let mut next = vec![0; seat.size as usize];
    receive(&mut inbox, |from, mut frame| {
        let length = u64::from_le_bytes(frame.pop().expect("a header"));
        assert_eq!(length as usize, LENGTHS[next[from as usize]]);
        assert!(frame.to_bytes() == vec![from as u8; length as usize]);
        next[from as usize] += 1;
        next.iter().sum::<usize>() == LENGTHS.len() * (next.len() - 1)
    });
}

#[test]
#[ignore = "one process of a_process_that_dies_ends_the_session"]
fn member_dies() {
    let seat = Seat::from_environment().expect("mpirun gives a seat");
    let (_mpi, mut inbox) = Mpi::join(&seat).expect("joined");
    if seat.rank == 1 {
        // SAFETY: ends this process.
        unsafe { libc::raise(libc::SIGKILL) };
    }
    receive(&mut inbox, |_, _| false);
}

#[test]
#[ignore = "the process of a_seat_that_mpi_does_not_give_is_refused"]
fn member_with_a_wrong_seat() {
    let seat = Seat::from_environment().expect("mpirun gives a seat");
    let wrong = Seat { size: 7, ..seat };
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
