//! What the kit offers subjects whose partners are other processes, and what it does about tests that fail.

use antiphon_kit::{Failure, Frames, Placement, Subject, Test, ThreadReport};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A test with a partner that reports by text.
struct Remote;

impl Frames for Remote {
    fn control(&mut self, iterations: u64) -> Result<u64, Failure> {
        Ok(iterations)
    }

    fn test(&mut self, iterations: u64) -> Result<u64, Failure> {
        match iterations {
            13 => Err("thirteen is too many".into()),
            14 => panic!("so is fourteen"),
            _ => Ok(iterations),
        }
    }

    fn report(&mut self) -> Result<Vec<ThreadReport>, Failure> {
        let reported = "role=peer policy=fifo priority=7 processor=3 allowed=2-3";
        Ok(vec![reported.parse()?])
    }
}

fn answers(subject: Subject, requests: &str) -> Vec<String> {
    let mut output = Vec::new();
    let served = subject.serve_on(&mut requests.as_bytes(), &mut output);
    served.expect("both channels are in memory");
    let text = String::from_utf8(output).expect("answers are UTF-8");
    text.lines().map(str::to_owned).collect()
}

// Reports are those of the process, so all is one test.
#[test]
fn partners_in_other_processes_are_moved_counted_and_heard() {
    let switches = Cell::new(0);
    let placed = Rc::new(RefCell::new(Vec::new()));
    let noting = Rc::clone(&placed);
    let subject = Subject::new("Rust")
        .test(Test::frame("remote", |_| Ok(Remote)).threads(2))
        .own_switches(move || {
            switches.set(switches.get() + 5);
            switches.get()
        })
        .on_placement(move |placement| {
            noting.borrow_mut().push(placement);
            match noting.borrow().len() {
                1 => Err("the peers do not answer".to_owned()),
                _ => Ok(()),
            }
        });
    let lines = answers(
        subject,
        "hello 1\nplacement free\nplacement free\nplacement free\n\
         batch remote iterations=4 blocks=1 reference=0 warmup=2\n\
         slice remote test iterations=13 warmup=0\nslice remote test iterations=14 warmup=0\n\
         slice remote test iterations=4 warmup=0\nquit\n",
    );
    assert!(lines[0].ends_with(" switches=own"), "{}", lines[0]);
    assert_eq!(lines[2], "@@ error unsupported the peers do not answer");
    assert_eq!(lines[3], "@@ ok", "what was refused may be asked for again");
    assert!(lines[4].starts_with("@@ error bad-argument placement was given before"));
    assert_eq!(*placed.borrow(), [Placement::Free, Placement::Free]);
    for slice in &lines[5..9] {
        let words: Vec<&str> = slice.split(' ').collect();
        assert_eq!(
            (words[1], words[7], words[8]),
            ("slice", "5", "0"),
            "{slice}"
        );
    }
    let peer = "@@ thread role=peer policy=fifo priority=7 processor=3 allowed=2-3 count=2";
    assert!(lines.iter().any(|line| line == peer), "{lines:?}");
    let failed = lines
        .iter()
        .filter(|line| line.starts_with("@@ error failed"));
    let failed: Vec<&String> = failed.collect();
    assert_eq!(failed[0], "@@ error failed thirteen is too many");
    assert_eq!(failed[1], "@@ error failed it panicked: so is fourteen");
    let last = &lines[lines.len() - 3..];
    assert!(last[0].starts_with("@@ slice 0 test 4 "), "{last:?}");
    assert_eq!(last[1..], ["@@ ok", "@@ ok"]);
}
