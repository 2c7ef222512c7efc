//! Processes that are started while a session runs, by the process that wants them. This executable starts itself.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use antiphon_panda::platform::{Bootstrap, Secret, shm, udp};
use antiphon_panda::starter::{SpawnRequest, Starter};
use antiphon_panda::{Error, GroupEvent, LaunchInfo, Message, Session};
use rustix::net::{AddressFamily, SocketType};

use crate::{mpirun, process};

/// Returns what a spawned process is called with, to run an ignored test of this module.
fn child(test: &str) -> [String; 5] {
    process::arguments(module_path!(), test)
}

fn processes_are_spawned(info: &LaunchInfo) {
    let session = antiphon_panda::platform::join(info).unwrap();
    assert_eq!(session.spawn("no", [""; 0], 0).unwrap(), []);
    assert_eq!(session.parent(), None);
    let (sender, results) = std::sync::mpsc::channel();
    session
        .serve("result", move |call| {
            let _ = sender.send((call.from, call.payload.value::<u64>().unwrap()));
            call.reply.send(Message::new());
        })
        .unwrap();
    let (sender, views) = std::sync::mpsc::channel();
    let group = session.join_group("all", move |event| {
        if let GroupEvent::View { members, .. } = event {
            let _ = sender.send(members.len());
        }
    });
    let exe = std::env::current_exe().unwrap();
    assert_eq!(
        session
            .spawn(&exe, child("number_of_the_group"), 2)
            .unwrap(),
        [1, 2]
    );
    assert_eq!(session.population(), 3);
    // Those that are there serve those that come.
    assert_eq!(
        session
            .spawn(&exe, child("number_of_the_group"), 1)
            .unwrap(),
        [3]
    );
    while views
        .recv_timeout(Duration::from_secs(60))
        .expect("they join the group")
        < 4
    {}
    group.unwrap().send(Message::of(&7u64).unwrap()).unwrap();
    let mut all: Vec<_> = results.iter().take(3).collect();
    all.sort_unstable();
    assert_eq!(all, [(1, 8), (2, 9), (3, 10)]);
    for rank in 1..4 {
        let end = session.port("end").receive(Some(rank), None).unwrap_err();
        assert!(matches!(end, Error::Lost { .. }), "{end}");
    }

    let error = session
        .spawn(&exe, child("ends_at_once"), 2)
        .unwrap_err()
        .to_string();
    assert!(error.contains("did not join"), "{error}");
    let error = session.spawn("./no-such-program", [""; 0], 1).unwrap_err();
    assert!(error.to_string().contains("no-such-program"), "{error}");
}

#[test]
fn processes_are_spawned_over_shm() {
    let bootstrap = shm::Bootstrap::new(1, Secret::fresh().unwrap()).unwrap();
    processes_are_spawned(&bootstrap.launch_info(0));
}

#[test]
fn processes_are_spawned_over_tcp() {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let bootstrap = Bootstrap::hold(any, 1, Secret::fresh().unwrap()).unwrap();
    processes_are_spawned(&bootstrap.launch_info("tcp", 0));
}

#[test]
fn processes_are_spawned_over_udp() {
    let bootstrap = udp::Bootstrap::new(1, Secret::fresh().unwrap()).unwrap();
    processes_are_spawned(&bootstrap.launch_info(0));
}

#[test]
fn processes_are_spawned_over_mpi() {
    mpirun::run(module_path!(), "spawner_over_mpi", 1, |code, output| {
        assert_eq!(code, Some(0), "{output}");
    });
}

#[test]
#[ignore = "the process of processes_are_spawned_over_mpi"]
fn spawner_over_mpi() {
    processes_are_spawned(&LaunchInfo::from_environment().expect("mpirun gives launch info"));
}

/// Who hears of a new process from the one that spawned it can send to it at once, even if it took nothing from anybody meanwhile.
fn a_spawned_process_is_known_to_all(infos: [LaunchInfo; 2]) {
    let long = Duration::from_secs(60);
    let joining = infos.map(|info| {
        thread::spawn(move || antiphon_panda::platform::join(&info).expect("two come"))
    });
    let [spawner, other] = joining.map(|thread| thread.join().unwrap());
    let (begins, has_begun) = mpsc::channel();
    let (ends, may_end) = mpsc::channel::<()>();
    other
        .port("hold")
        .on_message(move |_| {
            let _ = begins.send(());
            let _ = may_end.recv_timeout(long);
        })
        .unwrap();
    let (sends, sent) = mpsc::channel();
    let greeting = other.port("greeting");
    other
        .port("told")
        .on_message(move |told| {
            let _ = sends.send(greeting.send(told.tag, 0, Message::new()));
        })
        .unwrap();
    spawner.port("hold").send(1, 0, Message::new()).unwrap();
    has_begun.recv_timeout(long).expect("the upcall runs");
    let spawns = thread::spawn(move || {
        let exe = std::env::current_exe().unwrap();
        let spawned = spawner.spawn(exe, child("is_greeted"), 1).unwrap()[0];
        let told = spawner.port("told");
        told.send(1, spawned, Message::new()).unwrap();
        let thanks = spawner.port("thanks");
        thanks.receive_within(Some(spawned), None, long).map(drop)
    });
    // Whether the other one hears of it before or after it goes on depends on whether it is waited for.
    let until = Instant::now() + Duration::from_secs(1);
    while !spawns.is_finished() && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    ends.send(()).unwrap();
    let sent = sent.recv_timeout(long).expect("it is told");
    sent.expect("it knows the rank that it is told");
    spawns.join().unwrap().expect("the greeting came");
}

#[test]
fn a_process_spawned_over_shm_is_known_to_all() {
    let bootstrap = shm::Bootstrap::new(2, Secret::fresh().unwrap()).unwrap();
    a_spawned_process_is_known_to_all([0, 1].map(|rank| bootstrap.launch_info(rank)));
}

#[test]
fn a_process_spawned_over_tcp_is_known_to_all() {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let bootstrap = Bootstrap::hold(any, 2, Secret::fresh().unwrap()).unwrap();
    a_spawned_process_is_known_to_all([0, 1].map(|rank| bootstrap.launch_info("tcp", rank)));
}

#[test]
fn a_process_spawned_over_udp_is_known_to_all() {
    let bootstrap = udp::Bootstrap::new(2, Secret::fresh().unwrap()).unwrap();
    a_spawned_process_is_known_to_all([0, 1].map(|rank| bootstrap.launch_info(rank)));
}

/// Where descriptors are all taken the threads that wait for connections pause, and do not ask again and again.
#[test]
fn without_descriptors_nobody_spins() {
    let mut child = process::command(module_path!(), "has_no_descriptors")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("all are taken")));
    let tasks = format!("/proc/{}/task", child.id());
    for name in ["panda starter", "panda bootstrap"] {
        // Others of that name serve one connection each, which is one wait, and end.
        let (mut first, end) = (BTreeMap::new(), Instant::now() + Duration::from_secs(60));
        let mut pauses = || {
            let found = fs::read_dir(&tasks).unwrap().flatten();
            found
                .filter_map(|task| waits_of(&task.path(), name).zip(Some(task.path())))
                .any(|(waits, task)| waits >= *first.entry(task).or_insert(waits) + 20)
        };
        while !pauses() {
            assert!(Instant::now() < end, "{name} does not pause");
            thread::sleep(Duration::from_millis(5));
        }
    }
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

/// How often a thread of that name has waited, by the system's count: who spins gives way to nobody of its own accord.
fn waits_of(task: &Path, name: &str) -> Option<u64> {
    let comm = fs::read_to_string(task.join("comm")).ok()?;
    let status = fs::read_to_string(task.join("status")).ok()?;
    let mut lines = status.lines().filter(|_| comm.trim() == name);
    let count = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count?.trim().parse().ok()
}

#[test]
#[ignore = "a process of another test"]
fn has_no_descriptors() {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let secret = Secret::fresh().unwrap();
    let bootstrap = Bootstrap::hold(any, 1, secret).unwrap();
    let start = |_: &SpawnRequest, _, _| Err("nobody is".into());
    let starter = Starter::hold(any.ip(), secret, Arc::new(start)).unwrap();
    let info = bootstrap.launch_info("tcp", 0);
    let addresses: [SocketAddr; 2] =
        [info.bootstrap, starter.address()].map(|address| address.parse().unwrap());
    // Connections that wait to be taken in, more than the thread that waits may already have descriptors for.
    let (family, kind) = (AddressFamily::INET, SocketType::STREAM);
    let sockets: Vec<_> = (addresses.iter().flat_map(|address| [address; 3]))
        .map(|address| (address, rustix::net::socket(family, kind, None).unwrap()))
        .collect();
    let few = rustix::process::Rlimit {
        current: Some(100),
        maximum: Some(100),
    };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, few).unwrap();
    let mut taken = Vec::new();
    while let Ok(file) = fs::File::open("/dev/null") {
        taken.push(file);
    }
    for (address, socket) in &sockets {
        rustix::net::connect(socket, *address).unwrap();
    }
    println!("all are taken");
    let _ = std::io::stdin().read_line(&mut String::new());
}

/// More than a session can have are refused, and use no ranks up.
fn too_many_are_refused(info: &LaunchInfo, most: u32) {
    let session = antiphon_panda::platform::join(info).unwrap();
    let exe = std::env::current_exe().unwrap();
    for count in [u32::MAX, u32::MAX - 1, 4_000_000_000, 70_000, most] {
        let refused = session.spawn(&exe, child("ends_at_once"), count);
        assert!(
            matches!(refused, Err(Error::Join(_))),
            "{count}: {refused:?}"
        );
        let why = refused.unwrap_err().to_string();
        assert!(why.contains(&format!("{count} more processes")), "{why}");
    }
    let ranks = |count| -> Vec<u32> {
        let infos = session.allot(count).unwrap();
        infos.iter().map(|info| info.rank).collect()
    };
    assert_eq!(ranks(1), [1]);
    assert_eq!(ranks(most - 2).last(), Some(&(most - 1)));
    assert!(session.allot(1).is_err());
}

#[test]
fn too_many_are_refused_over_shm() {
    let bootstrap = shm::Bootstrap::new(1, Secret::fresh().unwrap()).unwrap();
    too_many_are_refused(&bootstrap.launch_info(0), 256);
}

#[test]
fn too_many_are_refused_over_tcp() {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let bootstrap = Bootstrap::hold(any, 1, Secret::fresh().unwrap()).unwrap();
    too_many_are_refused(&bootstrap.launch_info("tcp", 0), 65_536);
}

#[test]
fn too_many_are_refused_over_udp() {
    let bootstrap = udp::Bootstrap::new(1, Secret::fresh().unwrap()).unwrap();
    too_many_are_refused(&bootstrap.launch_info(0), 65_536);
}

#[test]
#[ignore = "a process that the other tests spawn"]
fn number_of_the_group() {
    let session = Session::join().unwrap();
    let (sender, numbers) = std::sync::mpsc::channel();
    let _group = session.join_group("all", move |event| {
        if let GroupEvent::Message { payload, .. } = event {
            let _ = sender.send(payload.value::<u64>().unwrap());
        }
    });
    let number = numbers
        .recv_timeout(Duration::from_secs(60))
        .expect("it is sent when all are there");
    let result = Message::of(&(number + u64::from(session.rank()))).unwrap();
    let parent = session.parent().expect("it was spawned");
    session.call(parent, "result", result, None).unwrap();
}

#[test]
#[ignore = "a process that the other tests spawn"]
fn is_greeted() {
    let session = Session::join().unwrap();
    session.port("greeting").receive(Some(1), None).unwrap();
    let thanks = session.port("thanks");
    thanks.send_synchronously(0, 0, Message::new()).unwrap();
}

#[test]
#[ignore = "a process that the other tests spawn"]
fn ends_at_once() {}
