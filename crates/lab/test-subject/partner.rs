//! The partner thread of the hand-off.

use crate::place::{self, Place};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

enum Ball {
    Pass(u64),
    Report,
}

pub struct Partner {
    there: Option<Sender<Ball>>,
    back: Receiver<u64>,
    reports: Receiver<String>,
    thread: Option<JoinHandle<()>>,
}

impl Partner {
    pub fn start(place: Place) -> Self {
        let (there, incoming) = channel();
        let (outgoing, back) = channel();
        let (reporter, reports) = channel();
        let thread = std::thread::spawn(move || {
            place.put("partner");
            for ball in incoming {
                let sent = match ball {
                    Ball::Pass(value) => outgoing.send(value.wrapping_add(1)).is_ok(),
                    Ball::Report => reporter.send(place::report("partner", 2)).is_ok(),
                };
                if !sent {
                    return;
                }
            }
        });
        Self {
            there: Some(there),
            back,
            reports,
            thread: Some(thread),
        }
    }

    /// Sends a value there and back.
    pub fn pass(&self, value: u64) -> u64 {
        self.send(Ball::Pass(value));
        self.back.recv().expect("the partner runs while it is held")
    }

    pub fn report(&self) -> String {
        self.send(Ball::Report);
        self.reports
            .recv()
            .expect("the partner runs while it is held")
    }

    fn send(&self, ball: Ball) {
        if let Some(there) = &self.there {
            there.send(ball).expect("the partner runs while it is held");
        }
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.there = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
