//! Threads that occupy the processors for short random times. They cause wake-ups and pre-emptions
//! at unusual places.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Noise while this value lives.
#[derive(Debug)]
pub struct Noise {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Noise {
    /// Starts that many threads. The seed makes their bursts differ from run to run.
    pub fn start(threads: usize, seed: u64) -> Noise {
        let is_over = Arc::new(AtomicBool::new(false));
        let threads = (0..threads as u64)
            .map(|number| {
                let is_over = Arc::clone(&is_over);
                std::thread::spawn(move || {
                    make_noise(&is_over, seed.wrapping_mul(1_000_003).wrapping_add(number))
                })
            })
            .collect();
        Noise { is_over, threads }
    }
}

impl Drop for Noise {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that panicked made no noise; the check continues without it.
            let _ = thread.join();
        }
    }
}

fn make_noise(is_over: &AtomicBool, seed: u64) {
    // A linear congruential generator is random enough for lengths of bursts.
    let mut state = seed | 1;
    let mut next = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    while !is_over.load(Ordering::Relaxed) {
        let end = Instant::now() + Duration::from_micros(50 + next(2_000));
        while Instant::now() < end {
            std::hint::spin_loop();
        }
        std::thread::sleep(Duration::from_micros(10 + next(1_000)));
    }
}
