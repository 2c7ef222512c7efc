//! Sessions over the platforms that every machine has, and programs over each of them.

use std::net::Ipv4Addr;
use std::thread;

use antiphon_panda::platform::local::Local;
use antiphon_panda::platform::{self, Bootstrap, Secret, shm, udp};
use antiphon_panda::{LaunchInfo, Session};
use orca::{Error, Orca};

fn join(infos: Vec<LaunchInfo>) -> Vec<Session> {
    let join = |info: LaunchInfo| thread::spawn(move || platform::join(&info).expect("it joins"));
    let threads: Vec<_> = infos.into_iter().map(join).collect();
    let joined = threads
        .into_iter()
        .map(|thread| thread.join().expect("it joins"));
    joined.collect()
}

pub fn local(size: u32) -> Vec<Session> {
    Local::sessions(size).expect("a session")
}

fn over_shm(size: u32) -> Vec<Session> {
    let secret = Secret::fresh().expect("random bytes");
    let bootstrap = shm::Bootstrap::new(size, secret).expect("shared memory");
    join((0..size).map(|rank| bootstrap.launch_info(rank)).collect())
}

fn over_tcp(size: u32) -> Vec<Session> {
    let any = (Ipv4Addr::LOCALHOST, 0).into();
    let secret = Secret::fresh().expect("random bytes");
    let bootstrap = Bootstrap::hold(any, size, secret).expect("a port");
    let info = |rank| bootstrap.launch_info("tcp", rank);
    join((0..size).map(info).collect())
}

fn over_udp(size: u32) -> Vec<Session> {
    let secret = Secret::fresh().expect("random bytes");
    let bootstrap = udp::Bootstrap::new(size, secret).expect("a port");
    join((0..size).map(|rank| bootstrap.launch_info(rank)).collect())
}

/// Runs a program on all machines of a session. Returns each machine's result.
pub fn run<R: Send + 'static>(
    sessions: Vec<Session>,
    main: fn(&Orca) -> Result<R, Error>,
) -> Vec<Result<Option<Result<R, Error>>, Error>> {
    let run = |session| thread::spawn(move || orca::run(&session, main));
    let threads: Vec<_> = sessions.into_iter().map(run).collect();
    let ended = threads
        .into_iter()
        .map(|thread| thread.join().expect("no machine panics"));
    ended.collect()
}

/// The same for a program that does not fail. Returns the result of `main`.
pub fn result<R: Send + 'static>(sessions: Vec<Session>, main: fn(&Orca) -> Result<R, Error>) -> R {
    let mut ended = run(sessions, main).into_iter();
    let first = ended.next().expect("a machine");
    for other in ended {
        assert!(other.expect("a machine that served").is_none());
    }
    let result = first.expect("the program ends well");
    result.expect("main has run").expect("nothing failed")
}

macro_rules! over_platforms {
    ($($at:ident::$program:ident)*) => { $(
        mod $program {
            #[test]
            fn local() {
                crate::$at::$program(super::local);
            }
            #[test]
            fn shm() {
                crate::$at::$program(super::over_shm);
            }
            #[test]
            fn tcp() {
                crate::$at::$program(super::over_tcp);
            }
            #[test]
            fn udp() {
                crate::$at::$program(super::over_udp);
            }
        }
    )* };
}

over_platforms! {
    programs::a_counter_counts_what_all_add
    programs::a_bounded_buffer_hands_over_each_item_once
    programs::philosophers_all_eat
    programs::a_deadlock_names_who_waits_for_what
    programs::objects_move_without_losing_a_write
    programs::objects_travel_in_arrays
    arrays::all_elements_see_the_state_before
    arrays::processes_share_arrays
}
