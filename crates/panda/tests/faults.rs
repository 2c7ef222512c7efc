//! Processes that are killed (SIGKILL) or stopped (SIGSTOP) while a group sends, the sequencer or another member, over the real platforms. This test starts itself as
//! the processes of a session.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use antiphon_panda::platform::{Meeting, Rank, Secret, shm, udp};
use antiphon_panda::{Error, GroupEvent, Message, Seat, Session};

/// Bounds what never takes so long.
const LIMIT: Duration = Duration::from_secs(120);
const SIZE: u32 = 3;
/// Messages that each survivor sends before it knows of the loss, and after.
const SENT: u32 = 30;

macro_rules! faults {
    ($($test:ident: $platform:literal, $victim:literal, $signal:ident;)*) => {
        $(#[test]
        fn $test() {
            lose($platform, $victim, libc::$signal);
        })*
    };
}

faults! {
    the_sequencer_is_killed_over_shm: "shm", 0, SIGKILL;
    a_member_is_killed_over_shm: "shm", 1, SIGKILL;
    the_sequencer_is_stopped_over_shm: "shm", 0, SIGSTOP;
    a_member_is_stopped_over_shm: "shm", 1, SIGSTOP;
    the_sequencer_is_killed_over_tcp: "tcp", 0, SIGKILL;
    a_member_is_killed_over_tcp: "tcp", 1, SIGKILL;
    the_sequencer_is_stopped_over_tcp: "tcp", 0, SIGSTOP;
    a_member_is_stopped_over_tcp: "tcp", 1, SIGSTOP;
    the_sequencer_is_killed_over_udp: "udp", 0, SIGKILL;
    a_member_is_killed_over_udp: "udp", 1, SIGKILL;
    the_sequencer_is_stopped_over_udp: "udp", 0, SIGSTOP;
    a_member_is_stopped_over_udp: "udp", 1, SIGSTOP;
}

/// Starts a session, does something to one of its processes, and looks at what the others delivered.
fn lose(platform: &str, victim: Rank, signal: i32) {
    let secret = Secret::fresh().unwrap();
    let shm = shm::Meeting::new(SIZE, secret).unwrap();
    let udp = udp::Meeting::new(SIZE, secret).unwrap();
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let tcp = Meeting::hold(any, SIZE, secret).unwrap();
    let seat = |rank| match platform {
        "shm" => shm.seat(rank),
        "udp" => udp.seat(rank),
        _ => tcp.seat("tcp", rank),
    };
    let (lines, said) = mpsc::channel();
    let mut members: Vec<Killed> = (0..SIZE)
        .map(|rank| start(&seat(rank), victim, &lines))
        .collect();
    let said = Said(said);
    said.wait_for(victim, "ready");
    members[victim as usize].signal(signal);
    let survivors = (0..SIZE).filter(|&rank| rank != victim);
    let orders: Vec<String> = survivors
        .map(|rank| said.wait_for(rank, "order "))
        .collect();
    assert_eq!(
        orders[0], orders[1],
        "survivors delivered the same in the same order"
    );
    check(&orders[0], victim);
    if signal == libc::SIGSTOP {
        members[victim as usize].signal(libc::SIGCONT);
        said.wait_for(victim, "expelled");
        said.wait_for(victim, "back");
    }
    members.clear();
}

/// Of each sender's messages none is missing and none came twice; all of the survivors'.
fn check(order: &str, victim: Rank) {
    let mut next: BTreeMap<Rank, u32> = (0..SIZE).map(|rank| (rank, 0)).collect();
    for word in order.split_whitespace() {
        let (from, number) = word.split_once(':').expect("FROM:NUMBER");
        let next = next.get_mut(&from.parse().unwrap()).expect("a rank");
        assert_eq!(number, next.to_string(), "of rank {from} in {order}");
        *next += 1;
    }
    for (rank, count) in next {
        assert!(
            rank == victim || count == 2 * SENT,
            "{count} of rank {rank}"
        );
    }
}

/// A process that does not outlive the test.
struct Killed(Child);

impl Killed {
    fn signal(&mut self, number: i32) {
        let id = i32::try_from(self.0.id()).unwrap();
        // SAFETY: our child, which nobody has taken leave of yet.
        assert_eq!(unsafe { libc::kill(id, number) }, 0);
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(seat: &Seat, victim: Rank, lines: &mpsc::Sender<(Rank, String)>) -> Killed {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "member",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .envs(seat.to_environment())
        .env("VICTIM", victim.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let (rank, lines) = (seat.rank, lines.clone());
    std::thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            let _ = lines.send((rank, line));
        }
    });
    Killed(child)
}

/// What members said and nobody has waited for yet is kept aside.
struct Said(mpsc::Receiver<(Rank, String)>);

impl Said {
    /// The rest of the first line of a member that begins so. Others' lines are theirs to repeat.
    fn wait_for(&self, rank: Rank, beginning: &str) -> String {
        thread_local! {
            static ASIDE: std::cell::RefCell<Vec<(Rank, String)>> = const { std::cell::RefCell::new(Vec::new()) };
        }
        let fits = |line: &(Rank, String)| line.0 == rank && line.1.contains(beginning);
        let text = |(_, line): (Rank, String)| {
            let (_, rest) = line.split_once(beginning).expect("it fits");
            rest.to_owned()
        };
        let kept = ASIDE.with_borrow_mut(|aside| {
            let at = aside.iter().position(fits);
            at.map(|at| aside.remove(at))
        });
        if let Some(line) = kept {
            return text(line);
        }
        loop {
            let line = self.0.recv_timeout(LIMIT);
            let line = line.unwrap_or_else(|_| panic!("rank {rank} did not say `{beginning}`"));
            if fits(&line) {
                return text(line);
            }
            ASIDE.with_borrow_mut(|aside| aside.push(line));
        }
    }
}

/// Who was expelled may join again: it is another member, and what it sends now is delivered.
fn come_back(session: &Session) {
    let (sender, events) = mpsc::channel();
    let group = session
        .join_group("g", move |event| drop(sender.send(event)))
        .expect("let in again");
    group.send(Message::of(&SENT).unwrap()).unwrap();
    let is_own =
        |event| matches!(event, GroupEvent::Message { from, .. } if from == session.rank());
    while !is_own(
        events
            .recv_timeout(LIMIT)
            .expect("its message is delivered"),
    ) {}
    say("back");
}

fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().unwrap();
}

#[test]
#[ignore = "one process of a session of the other tests"]
fn member() {
    let session = Session::join().unwrap();
    let victim: Rank = std::env::var("VICTIM").unwrap().parse().unwrap();
    let (sender, events) = mpsc::channel();
    let everyone = session.everyone().unwrap();
    // In this order, so that rank 0 is the oldest member, which orders.
    let mut group = None;
    for rank in 0..SIZE {
        if rank == session.rank() {
            let sender = sender.clone();
            let joined = session.join_group("g", move |event| drop(sender.send(event)));
            group = Some(joined.unwrap());
        }
        everyone.barrier().unwrap();
    }
    let group = group.expect("joined");
    let send = |number: u32| group.send(Message::of(&number).unwrap());
    if session.rank() == victim {
        (0..SENT).for_each(|number| send(number).unwrap());
        say("ready");
        while !matches!(
            events.recv_timeout(LIMIT).unwrap(),
            GroupEvent::Expelled { .. }
        ) {}
        say("expelled");
        come_back(&session);
        return;
    }
    (0..SENT).for_each(|number| send(number).unwrap());
    let mut order = Vec::new();
    let mut own = 0;
    let (mut is_alone, mut others) = (false, 0);
    let mut has_all = false;
    while !has_all || !is_alone {
        match events.recv_timeout(LIMIT).expect("the group goes on") {
            GroupEvent::Message { from, payload, .. } => {
                own += u32::from(from == session.rank());
                others += u32::from(from != session.rank() && from != victim);
                order.push(format!("{from}:{}", payload.value::<u32>().unwrap()));
            }
            GroupEvent::View { left, .. } if left.contains(&victim) => {
                is_alone = true;
                (SENT..2 * SENT).for_each(|number| send(number).unwrap());
            }
            GroupEvent::View { .. } => {}
            other => panic!("{other:?}"),
        }
        has_all = own == 2 * SENT && others == 2 * SENT;
    }
    let error = session
        .call(victim, "nothing", Message::new(), None)
        .unwrap_err();
    let name = session.name_of(victim);
    assert!(
        matches!(&error, Error::Lost { peer, .. } if *peer == name),
        "{error}"
    );
    say(&format!("order {}", order.join(" ")));
    // Stays until the test ends it, so that who was only stopped finds that the others went on.
    while events.recv_timeout(LIMIT).is_ok() {}
}
