//! Processes that are killed while others read long frames out of their memory, over `shm`. This
//! executable starts itself as those processes.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use antiphon_panda::platform::shm::Bootstrap;
use antiphon_panda::platform::{Event, Flow, Inbox, Platform, Secret, Shm};
use antiphon_panda::{LaunchInfo, Message};

use crate::process;

/// Bounds waits that end far sooner.
const LIMIT: Duration = Duration::from_secs(60);
const BYTES: usize = 1 << 20;
/// Frames that are taken before their sender is killed.
const TAKEN: u32 = 5;

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(info: &LaunchInfo) -> Killed {
    let child = process::command(module_path!(), "sender")
        .envs(info.to_environment())
        .stdout(Stdio::null())
        .spawn();
    Killed(child.unwrap())
}

/// The nth frame of a sender.
fn frame(rank: u32, number: u32) -> Vec<u8> {
    let mark = u64::from(rank) << 32 | u64::from(number);
    mark.to_le_bytes().repeat(BYTES / 8)
}

#[test]
fn every_frame_that_comes_is_whole_whenever_its_sender_is_killed() {
    let bootstrap = Bootstrap::new(3, Secret::fresh().unwrap()).unwrap();
    let mut senders: Vec<Option<Killed>> = (0..2)
        .map(|rank| Some(start(&bootstrap.launch_info(rank))))
        .collect();
    let (_shm, mut inbox) = Shm::join(&bootstrap.launch_info(2)).unwrap();
    let mut came = [0, 0];
    let mut lost = [false, false];
    let mut events = Vec::new();
    let end = Instant::now() + LIMIT;
    while lost != [true, true] {
        assert!(Instant::now() < end, "{came:?} came, lost: {lost:?}");
        inbox.receive(Some(end), &mut events);
        for event in events.drain(..) {
            match event {
                Event::Frame { from, frame: taken } => {
                    let number = &mut came[from as usize];
                    assert!(!lost[from as usize], "a frame after the loss");
                    let is_whole = taken.to_bytes() == frame(from, *number);
                    assert!(is_whole, "{number} of {from}");
                    *number += 1;
                    if *number == TAKEN {
                        // Drops the sender while it goes on sending.
                        senders[from as usize] = None;
                    }
                }
                Event::Lost { rank, loss } => {
                    assert!(loss.is_certain, "{loss:?}");
                    lost[rank as usize] = true;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(came.iter().all(|&came| came >= TAKEN), "{came:?}");
}

#[test]
#[ignore = "a process of the other test"]
fn sender() {
    let info = LaunchInfo::from_environment().unwrap();
    let (shm, mut inbox) = Shm::join(&info).unwrap();
    for number in 0.. {
        let flow = shm.send(2, Message::from(frame(info.rank, number)));
        let mut events = Vec::new();
        while flow == Flow::Congested && !events.iter().any(|e| matches!(e, Event::Room { to: 2 }))
        {
            inbox.receive(None, &mut events);
        }
    }
}
