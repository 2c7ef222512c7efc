//! Processes that a member starts while the session runs. This executable starts itself.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use antiphon_panda::platform::{Bootstrap, Registry, Secret, shm, udp};
use antiphon_panda::starter::{NotStarted, OnEnd, Processes, SpawnRequest, Starter};
use antiphon_panda::{Error, GroupEvent, LaunchInfo, Message, Session, Signal, SpawnOptions};
use antiphon_runner::Signaller;
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
    // The present members serve the newcomers.
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

/// A process that hears of a new process from its spawner can send to it at once, even if it took
/// nothing meanwhile.
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
        .on_message(move |reported| {
            let _ = sends.send(greeting.send(reported.tag, 0, Message::new()));
        })
        .unwrap();
    spawner.port("hold").send(1, 0, Message::new()).unwrap();
    has_begun.recv_timeout(long).expect("the upcall runs");
    let spawns = thread::spawn(move || {
        let exe = std::env::current_exe().unwrap();
        let spawned = spawner.spawn(exe, child("is_greeted"), 1).unwrap()[0];
        let reported = spawner.port("told");
        reported.send(1, spawned, Message::new()).unwrap();
        let thanks = spawner.port("thanks");
        thanks.receive_within(Some(spawned), None, long).map(drop)
    });
    // The spawn may or may not wait until the other process knows the newcomer, so this waits a
    // second at most.
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

/// When no descriptor is left, the accepting threads pause instead of spinning.
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
        // Other threads of that name serve one connection each, which is one wait, and end.
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

/// Returns how often a thread of that name has waited, by the system's count of voluntary switches.
/// A spinning thread makes none.
fn waits_of(task: &Path, name: &str) -> Option<u64> {
    let comm = fs::read_to_string(task.join("comm")).ok()?;
    let status = fs::read_to_string(task.join("status")).ok()?;
    let mut lines = status.lines().filter(|_| comm.trim() == name);
    let count = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count?.trim().parse().ok()
}

/// A starter that starts no process.
struct NoProcesses;

impl Processes for NoProcesses {
    fn start(&self, _: &SpawnRequest, _: u32, _: OnEnd) -> Result<Arc<Signaller>, NotStarted> {
        Err("nobody is".into())
    }

    fn signal(&self, _: u32, _: Signal) -> Result<(), NotStarted> {
        Err("nobody is there".into())
    }
}

#[test]
#[ignore = "a process of another test"]
fn has_no_descriptors() {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let secret = Secret::fresh().unwrap();
    let bootstrap = Bootstrap::hold(any, 1, secret).unwrap();
    let starter = Starter::hold(any.ip(), secret, Arc::new(NoProcesses)).unwrap();
    let info = bootstrap.launch_info("tcp", 0);
    let addresses: [SocketAddr; 2] =
        [info.bootstrap, starter.address()].map(|address| address.parse().unwrap());
    // Opens more pending connections than the accepting thread may already have descriptors for.
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

/// A spawn beyond the session's limit is refused, and uses up no ranks.
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
    too_many_are_refused(&bootstrap.launch_info(0), 1024);
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

/// Returns the arguments of this test's process of that name.
fn called(name: &str) -> Vec<OsString> {
    child(name).map(OsString::from).to_vec()
}

/// Starts processes of this host, as a launcher does.
struct Children(LaunchInfo, Mutex<BTreeMap<u32, Arc<Signaller>>>);

impl Processes for Children {
    fn start(
        &self,
        request: &SpawnRequest,
        rank: u32,
        on_end: OnEnd,
    ) -> Result<Arc<Signaller>, NotStarted> {
        let info = LaunchInfo {
            rank,
            parent: Some(request.parent),
            starter: request.starter.clone(),
            ..self.0.clone()
        };
        let process = request.start(&info)?;
        let signaller = Arc::new(process.signaller()?);
        self.1.lock().unwrap().insert(rank, signaller.clone());
        thread::spawn(move || {
            let (end, _) = process.to_end(|_, _| {}).unwrap();
            on_end(&end, "");
        });
        Ok(signaller)
    }

    fn signal(&self, rank: u32, signal: Signal) -> Result<(), NotStarted> {
        let children = self.1.lock().unwrap();
        children[&rank].signal(signal.number());
        Ok(())
    }
}

/// Two processes are started. One joins late, and the other never.
fn started_processes_join_when_they_like(info: &LaunchInfo) {
    let session = antiphon_panda::platform::join(info).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    let options = SpawnOptions {
        environment: vec![("GATE".into(), Some(gate.clone().into()))],
        arguments: called("joins_when_the_gate_opens"),
        ..SpawnOptions::default()
    };
    let (sender, failures) = mpsc::channel();
    let exe = std::env::current_exe().unwrap();
    let started = session.start_with(&exe, 2, &options, move |rank, why| {
        sender.send((rank, why.to_owned())).unwrap();
    });
    let ranks: Vec<u32> = started.unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(ranks, [1, 2]);
    assert!(ranks.iter().all(|rank| !session.has_joined(*rank)));
    session.signal(1, Signal::KILL).unwrap();
    let long = Duration::from_secs(60);
    let (rank, why) = failures.recv_timeout(long).expect("its end is told");
    assert_eq!(rank, 1);
    assert!(why.contains("did not join"), "{why}");
    // A later process does not see it as joined either.
    let sees = SpawnOptions {
        arguments: called("sees_who_has_joined"),
        ..SpawnOptions::default()
    };
    let spawned = session.spawn_with(&exe, 1, &sees).unwrap();
    assert_eq!(
        spawned.into_iter().map(Result::unwrap).collect::<Vec<_>>(),
        [3]
    );
    let seen = session.port("seen").receive(Some(3), None).unwrap();
    assert_eq!(
        seen.payload.value::<[bool; 4]>().unwrap(),
        [true, false, false, true]
    );
    fs::write(&gate, "").unwrap();
    let has_joined = || session.has_joined(2);
    let until = Some(Instant::now() + long);
    assert!(session.wait_until(has_joined, until).unwrap());
    session.port("greeting").send(2, 0, Message::new()).unwrap();
    session.port("thanks").receive(Some(2), None).unwrap();
    lost(&session, 2);
    assert_eq!(failures.try_recv(), Err(mpsc::TryRecvError::Empty));
    // A failed start is reported at once.
    let none = SpawnOptions::default();
    let started = session.start_with("/no/such/program", 1, &none, |_, _| {});
    let error = started.unwrap().remove(0).unwrap_err();
    assert!(matches!(error, Error::NotSpawned { .. }), "{error}");
}

#[test]
fn started_processes_join_when_they_like_over_shm() {
    let bootstrap = shm::Bootstrap::new(1, Secret::fresh().unwrap()).unwrap();
    started_processes_join_when_they_like(&bootstrap.launch_info(0));
}

#[test]
fn started_processes_join_when_they_like_over_udp() {
    let bootstrap = udp::Bootstrap::new(1, Secret::fresh().unwrap()).unwrap();
    started_processes_join_when_they_like(&bootstrap.launch_info(0));
}

#[test]
fn started_processes_join_when_they_like_with_a_starter() {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let secret = Secret::fresh().unwrap();
    let bootstrap = Bootstrap::hold(any, 1, secret).unwrap();
    let info = bootstrap.launch_info("tcp", 0);
    let children = Arc::new(Children(info.clone(), Mutex::default()));
    let starter = Starter::hold(any.ip(), secret, children).unwrap();
    started_processes_join_when_they_like(&LaunchInfo {
        starter: Some(starter.address()),
        ..info
    });
}

#[test]
#[ignore = "a process that the other tests spawn"]
fn sees_who_has_joined() {
    let session = Session::join().unwrap();
    let seen = [0, 1, 2, 3].map(|rank| session.has_joined(rank));
    let port = session.port("seen");
    port.send_synchronously(0, 0, Message::of(&seen).unwrap())
        .unwrap();
}

#[test]
#[ignore = "a process that the other tests spawn"]
fn joins_when_the_gate_opens() {
    let gate = std::env::var_os("GATE").expect("it is told where");
    while !Path::new(&gate).exists() {
        thread::sleep(Duration::from_millis(5));
    }
    let session = Session::join().unwrap();
    session.port("greeting").receive(Some(0), None).unwrap();
    let thanks = session.port("thanks");
    thanks.send_synchronously(0, 0, Message::new()).unwrap();
}

fn lost(session: &Session, rank: u32) {
    let end = session.port("end").receive(Some(rank), None).unwrap_err();
    assert!(matches!(end, Error::Lost { .. }), "{end}");
}

fn processes_start_as_options_say(info: &LaunchInfo) {
    let session = antiphon_panda::platform::join(info).unwrap();
    let exe = std::env::current_exe().unwrap();
    let options = SpawnOptions {
        host: Some("localhost".into()),
        directory: Some("/".into()),
        environment: vec![
            ("COLOUR".into(), Some("green".into())),
            ("CARGO_MANIFEST_DIR".into(), None),
        ],
        arguments: called("says_how_it_was_started"),
    };
    let spawned = session.spawn_with(&exe, 2, &options).unwrap();
    let ranks: Vec<u32> = spawned.into_iter().map(Result::unwrap).collect();
    assert_eq!(ranks, [1, 2]);
    let port = session.port("told");
    for &rank in &ranks {
        let reported = port.receive(Some(rank), None).unwrap().payload;
        let reported: (String, Option<String>, Option<String>) = reported.value().unwrap();
        assert_eq!(reported, ("/".into(), Some("green".into()), None));
    }
    // A sibling is signalled through their parent.
    port.send(1, 2, Message::new()).unwrap();
    let done = port.receive(Some(1), None).unwrap().payload;
    assert_eq!(done.value::<String>().unwrap(), "done");
    lost(&session, 2);
    session.signal(1, Signal::KILL).unwrap();
    lost(&session, 1);
    // The sibling's end becomes known a moment later.
    let refused = loop {
        match session.signal(1, Signal::TERM) {
            Ok(()) => thread::sleep(Duration::from_millis(5)),
            Err(error) => break error,
        }
    };
    assert!(
        matches!(refused, Error::NotSignalled { rank: 1, .. }),
        "{refused}"
    );
    assert!(refused.to_string().contains("has ended"), "{refused}");
}

/// Returns why one process that was started so has not joined.
fn why_not(session: &Session, program: impl AsRef<Path>, options: &SpawnOptions) -> String {
    let mut spawned = session.spawn_with(program.as_ref(), 1, options).unwrap();
    spawned.remove(0).unwrap_err().to_string()
}

fn each_process_that_is_not_there_says_why(info: &LaunchInfo) {
    let session = antiphon_panda::platform::join(info).unwrap();
    let exe = std::env::current_exe().unwrap();
    let plain = SpawnOptions {
        arguments: called("ends_badly"),
        ..SpawnOptions::default()
    };
    let with = |change: fn(&mut SpawnOptions)| {
        let mut options = plain.clone();
        change(&mut options);
        options
    };
    let missing = with(|options| options.directory = Some("/no/such/directory".into()));
    let why = why_not(&session, &exe, &missing);
    assert!(
        why.contains("no directory /no/such/directory: make it"),
        "{why}"
    );
    let elsewhere = with(|options| options.host = Some("node9.invalid".into()));
    let why = why_not(&session, &exe, &elsewhere);
    assert!(
        why.contains("node9.invalid") && why.contains("--hosts"),
        "{why}"
    );
    let why = why_not(&session, "/no/such/program", &plain);
    assert!(
        why.contains("/no/such/program") && why.contains("path"),
        "{why}"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("program");
    fs::write(&file, "#!/bin/sh").unwrap();
    let why = why_not(&session, &file, &plain);
    assert!(why.contains("chmod +x"), "{why}");
    let why = why_not(&session, &exe, &plain);
    assert!(why.contains("exit code 3 and did not join"), "{why}");
    assert!(why.contains("no money left"), "{why}");
    // The processes that have joined stay, even if others fail.
    let some = with(|options| options.arguments = called("joins_if_its_rank_is_even"));
    let spawned = session.spawn_with(&exe, 4, &some).unwrap();
    for outcome in spawned {
        match outcome {
            Ok(rank) => {
                assert_eq!(rank % 2, 0);
                session.port("go").send(rank, 0, Message::new()).unwrap();
                session.port("gone").receive(Some(rank), None).unwrap();
            }
            Err(Error::NotSpawned { rank, .. }) => assert_eq!(rank % 2, 1),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Runs a test over each platform on which any process can start others.
macro_rules! over_all {
    ($($what:ident: $shm:ident $tcp:ident $udp:ident;)*) => {
        $(
            #[test]
            fn $shm() {
                let bootstrap = shm::Bootstrap::new(1, Secret::fresh().unwrap()).unwrap();
                $what(&bootstrap.launch_info(0));
            }

            #[test]
            fn $tcp() {
                let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
                let bootstrap = Bootstrap::hold(any, 1, Secret::fresh().unwrap()).unwrap();
                $what(&bootstrap.launch_info("tcp", 0));
            }

            #[test]
            fn $udp() {
                let bootstrap = udp::Bootstrap::new(1, Secret::fresh().unwrap()).unwrap();
                $what(&bootstrap.launch_info(0));
            }
        )*
    };
}

over_all! {
    processes_start_as_options_say:
        options_count_over_shm options_count_over_tcp options_count_over_udp;
    each_process_that_is_not_there_says_why:
        failures_are_told_over_shm failures_are_told_over_tcp failures_are_told_over_udp;
}

#[test]
#[ignore = "a process that the other tests spawn"]
fn says_how_it_was_started() {
    let session = Session::join().unwrap();
    let directory = std::env::current_dir().unwrap().display().to_string();
    let variable = |name: &str| std::env::var(name).ok();
    let reported = (
        directory,
        variable("COLOUR"),
        variable("CARGO_MANIFEST_DIR"),
    );
    let port = session.port("told");
    port.send(0, 0, Message::of(&reported).unwrap()).unwrap();
    let sibling = port.receive(Some(0), None).unwrap().tag;
    let sent = session.signal(sibling, Signal::KILL);
    let said = sent.map_or_else(|error| error.to_string(), |()| "done".into());
    port.send(0, 0, Message::of(&said).unwrap()).unwrap();
    let _ = port.receive(Some(0), None);
}

#[test]
#[ignore = "a process that the other tests spawn"]
fn ends_badly() {
    eprintln!("no money left");
    std::process::exit(3);
}

#[test]
#[ignore = "a process that the other tests spawn"]
fn joins_if_its_rank_is_even() {
    if LaunchInfo::from_environment()
        .unwrap()
        .rank
        .is_multiple_of(2)
    {
        let session = Session::join().unwrap();
        session.port("go").receive(Some(0), None).unwrap();
        let gone = session.port("gone");
        gone.send_synchronously(0, 0, Message::new()).unwrap();
    }
}

/// A process that is started by hand may join first of all. In the end all know it.
fn a_process_joins_by_hand(infos: [LaunchInfo; 2]) {
    let base = tempfile::tempdir().unwrap();
    let registry = Registry::below(base.path());
    let joinable = registry.announce("board", &infos[1]).unwrap();
    let own = registry.clone();
    let by_hand = thread::spawn(move || {
        let info = LaunchInfo::of_session_in(&own, None).unwrap();
        antiphon_panda::platform::join(&info).unwrap()
    });
    let founders =
        infos.map(|info| thread::spawn(move || antiphon_panda::platform::join(&info).unwrap()));
    let founders = founders.map(|thread| thread.join().unwrap());
    let by_hand = by_hand.join().unwrap();
    assert_eq!(
        (by_hand.rank(), by_hand.size(), by_hand.parent()),
        (2, 2, None)
    );
    for founder in &founders {
        let hello = by_hand.port("hello");
        hello.send(founder.rank(), 7, Message::new()).unwrap();
        let arrived = founder.port("hello").receive(None, Some(7)).unwrap();
        assert_eq!(arrived.from, 2);
        founder.port("hello").send(2, 8, Message::new()).unwrap();
        hello.receive(Some(founder.rank()), Some(8)).unwrap();
    }
    // A later process knows it, and it knows the later one.
    let info = LaunchInfo::of_session_in(&registry, Some("board")).unwrap();
    let later = antiphon_panda::platform::join(&info).unwrap();
    later.port("hello").send(2, 9, Message::new()).unwrap();
    let arrived = by_hand.port("hello").receive(None, Some(9)).unwrap();
    assert_eq!(arrived.from, 3);
    // No member has started it, but it can signal itself.
    let refused = founders[0].signal(2, Signal::TERM).unwrap_err().to_string();
    assert!(
        refused.contains("signal it where it was started"),
        "{refused}"
    );
    drop(joinable);
    let over = LaunchInfo::of_session_in(&registry, None)
        .unwrap_err()
        .to_string();
    assert!(over.contains("antiphon launch --joinable"), "{over}");
}

#[test]
fn a_process_joins_by_hand_over_shm() {
    let bootstrap = shm::Bootstrap::new(2, Secret::fresh().unwrap()).unwrap();
    a_process_joins_by_hand([0, 1].map(|rank| bootstrap.launch_info(rank)));
}

#[test]
fn a_process_joins_by_hand_over_tcp() {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let bootstrap = Bootstrap::hold(any, 2, Secret::fresh().unwrap()).unwrap();
    a_process_joins_by_hand([0, 1].map(|rank| bootstrap.launch_info("tcp", rank)));
}

#[test]
fn a_process_joins_by_hand_over_udp() {
    let bootstrap = udp::Bootstrap::new(2, Secret::fresh().unwrap()).unwrap();
    a_process_joins_by_hand([0, 1].map(|rank| bootstrap.launch_info(rank)));
}
