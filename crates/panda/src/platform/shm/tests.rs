use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::*;
use crate::platform::{Event, Inbox, Secret};

const PATIENCE: Duration = Duration::from_secs(20);

fn session(size: u32) -> (Bootstrap, Vec<(Shm, ShmInbox)>) {
    let bootstrap = Bootstrap::new(size, Secret([7; 16])).expect("shared memory");
    let joining: Vec<_> = (0..size)
        .map(|rank| bootstrap.launch_info(rank))
        .map(|info| std::thread::spawn(move || Shm::join(&info).expect("joined")))
        .collect();
    let members = joining.into_iter().map(|j| j.join().expect("no panic"));
    let members = members.collect();
    (bootstrap, members)
}

/// Receives until an event passes `wanted`; later events are left for the next call.
fn until<T>(
    inbox: &mut ShmInbox,
    events: &mut Vec<Event>,
    mut wanted: impl FnMut(Event) -> Option<T>,
) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        while !events.is_empty() {
            if let Some(found) = wanted(events.remove(0)) {
                return found;
            }
        }
        assert!(Instant::now() < end, "it did not come");
        inbox.receive(Some(end), events);
    }
}

fn frame_of(event: Event) -> Option<(Rank, Message)> {
    match event {
        Event::Frame { from, frame } => Some((from, frame)),
        _ => None,
    }
}

#[test]
fn frames_longer_than_the_ring_cross_each_other() {
    let (_bootstrap, members) = session(3);
    let served = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for (rank, (shm, mut inbox)) in (0..3).zip(members) {
            let served = &served;
            scope.spawn(move || {
                let payload = Bytes::from(vec![rank as u8; 3 << 20]);
                for to in (0..3).filter(|&to| to != rank) {
                    for _ in 0..3 {
                        let _ = shm.send(to, Message::from(payload.clone()));
                    }
                }
                let mut events = Vec::new();
                for _ in 0..6 {
                    let (from, frame) = until(&mut inbox, &mut events, frame_of);
                    assert!(frame.to_bytes() == vec![from as u8; 3 << 20]);
                }
                // Its own frames go out while it waits.
                served.fetch_add(1, SeqCst);
                while served.load(SeqCst) < 3 {
                    inbox.receive(Some(Instant::now() + Duration::from_millis(1)), &mut events);
                }
            });
        }
    });
}

#[test]
fn room_that_is_made_before_the_driver_knows_that_something_waits_is_used() {
    const FRAMES: usize = 100;
    let (_bootstrap, members) = session(2);
    let [(shm, mut inbox), (_other, mut receiver)] =
        <[_; 2]>::try_from(members).unwrap_or_else(|_| unreachable!("two"));
    let shared = &shm.shared;
    let way = shared.outgoing(1).expect("it is connected");
    let open = || shared.open(1);
    let send = |_| {
        way.send(
            Message::copy_of(b"short"),
            open,
            || false,
            || shared.ring(1),
        )
    };
    // A thread that sends does this, up to the point where another takes its processor.
    let left: Vec<_> = (0..FRAMES).map(send).collect();
    let (mut events, mut came) = (Vec::new(), 0);
    let mut receive = |frames: usize| {
        while came < frames {
            until(&mut receiver, &mut events, frame_of);
            came += 1;
        }
        receiver.receive(Some(Instant::now()), &mut events);
        came + events.len()
    };
    let cells = super::memory::CELLS as usize;
    assert_eq!(receive(cells), cells);
    // The driver is rung and finds nothing to do.
    inbox.receive(Some(Instant::now()), &mut Vec::new());
    for left in left {
        let _ = shared.settle(1, way, left);
    }
    receive(FRAMES);
}

#[test]
fn what_was_sent_before_leaving_arrives_before_the_loss() {
    let (_bootstrap, mut members) = session(2);
    let (shm, inbox) = members.pop().expect("two members");
    let mut frames = 0;
    let leaving = std::thread::spawn(move || {
        for _ in 0..100 {
            let _ = shm.send(0, Message::from(vec![1; 20_000]));
        }
        drop((shm, inbox));
    });
    let loss = until(&mut members[0].1, &mut Vec::new(), |event| match event {
        Event::Lost { rank: 1, loss } => Some(loss),
        Event::Frame { .. } => {
            frames += 1;
            None
        }
        other => panic!("{other:?}"),
    });
    leaving.join().expect("no panic");
    assert_eq!(frames, 100);
    assert!(
        loss.is_certain && loss.reason == "left the session",
        "{loss:?}"
    );
}

#[test]
fn a_wake_ends_a_wait_and_a_spawned_process_is_met() {
    let (_bootstrap, mut members) = session(2);
    let (shm, inbox) = &mut members[0];
    std::thread::scope(|scope| {
        scope.spawn(|| shm.wake());
        inbox.receive(None, &mut Vec::new());
    });
    let info = shm.allot(1).expect("room").pop().expect("one launch info");
    assert_eq!((info.rank, info.size), (2, 2));
    let (third, mut thirds_inbox) = Shm::join(&info).expect("joined");
    third.send(0, Message::from(b"here".as_slice()));
    let mut met = false;
    let (from, frame) = until(inbox, &mut Vec::new(), |event| {
        met |= matches!(&event, Event::Joined { rank: 2, name } if name == "rank 2");
        frame_of(event)
    });
    assert!(met && from == 2 && frame == Message::from(b"here".as_slice()));
    shm.send(2, Message::from(b"welcome".as_slice()));
    assert_eq!(until(&mut thirds_inbox, &mut Vec::new(), frame_of).0, 0);
}

/// A process can be sent to as soon as others see it, which is before it has looked at them.
#[test]
fn who_has_sent_and_left_before_a_process_looks_is_heard_all_the_same() {
    let (_bootstrap, members) = session(1);
    let first = &members[0].0;
    let mut infos = first.allot(2).expect("room").into_iter();
    let mut join = || Shm::join(&infos.next().expect("two")).expect("joined");
    let (sender, silent) = (join(), join());
    sender.0.send(0, Message::from(b"early".as_slice()));
    drop((sender, silent));
    // As of a process that has come, and looks only now.
    let watch = watch::Watch::new(|_| {}, || {}).expect("a thread");
    let mut inbox = ShmInbox::new(first.shared.clone(), watch);
    let mut told = Vec::new();
    let end = until(&mut inbox, &mut Vec::new(), |event| match event {
        Event::Lost { rank, .. } => Some(rank),
        event => {
            told.extend(frame_of(event));
            None
        }
    });
    assert_eq!(told, [(1, Message::from(b"early".as_slice()))]);
    assert_eq!(end, 1);
}

#[test]
fn strangers_and_seconds_are_refused() {
    let (bootstrap, _members) = session(1);
    let refusal = |info: LaunchInfo| Shm::join(&info).err().expect("refused").to_string();
    assert!(refusal(bootstrap.launch_info(0)).contains("rank 0 has been in this session"));
    let stranger = LaunchInfo {
        secret: Secret([8; 16]),
        ..bootstrap.launch_info(0)
    };
    assert!(refusal(stranger).contains("another secret"));
    let nowhere = LaunchInfo {
        bootstrap: "/proc/self/status".into(),
        ..bootstrap.launch_info(0)
    };
    assert!(refusal(nowhere).contains("/proc/self/status"));
    assert!(Bootstrap::new(memory::RANKS + 1, Secret([0; 16])).is_err());
}

#[test]
fn nonsense_in_a_ring_loses_its_sender_only() {
    let (bootstrap, mut members) = session(3);
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(bootstrap.launch_info(0).bootstrap)
        .expect("there");
    let ring = memory::Map::new(
        std::os::fd::AsFd::as_fd(&file),
        memory::ring_at(1, 0),
        memory::RING,
    )
    .expect("mapped");
    drop(members[1].0.shared.open(0).expect("mapped"));
    let head: &memory::CellHead = ring.view(memory::CELLS_AT);
    head.length.store(u32::MAX - 2, SeqCst);
    head.lap.store(1, SeqCst);
    let loss = until(&mut members[0].1, &mut Vec::new(), |event| match event {
        Event::Lost { rank: 1, loss } => Some(loss),
        _ => None,
    });
    assert!(loss.reason.contains("4294967293 bytes"), "{loss:?}");
    members[2].0.send(0, Message::from(vec![1]));
    assert_eq!(until(&mut members[0].1, &mut Vec::new(), frame_of).0, 2);
}

#[test]
fn a_founder_that_ends_before_it_joins_is_waited_for_no_longer() {
    let bootstrap = Bootstrap::new(3, Secret([7; 16])).expect("memory");
    let info = bootstrap.launch_info(0);
    let joining = std::thread::spawn(move || Shm::join(&info).map(drop));
    bootstrap.ended(2);
    let why = joining.join().unwrap().unwrap_err().to_string();
    assert!(why.contains("rank 2 ended before joining"), "{why}");
}

/// Checks a session of many processes, most of which never send anything to each other.
#[test]
fn rings_that_nothing_was_sent_through_take_no_memory() {
    use std::os::unix::fs::MetadataExt;

    let (bootstrap, mut members) = session(40);
    let path = bootstrap.launch_info(0).bootstrap;
    let memory = || std::fs::metadata(&path).expect("it is held").blocks() as usize * 512;
    let now = Some(Instant::now());
    for (_, inbox) in &mut members {
        inbox.receive(now, &mut Vec::new());
    }
    assert!(memory() <= memory::COMMON, "{} bytes", memory());
    let (sender, _) = &members[3];
    let _ = sender.send(30, Message::from(vec![7; 100]));
    let (_, inbox) = &mut members[30];
    let came = until(inbox, &mut Vec::new(), frame_of);
    assert_eq!(came, (3, Message::from(vec![7; 100])));
    let most = memory::COMMON + memory::RING;
    assert!(memory() <= most, "{} bytes", memory());
}
