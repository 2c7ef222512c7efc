//! What Rust's own means to synchronize and to take storage cost: one test of each kind that the kit serves.

use antiphon_kit::{
    Failure, Frames, Operation, Sample, Subject, Test, Turn, Turns, increment, now_ns,
    start_partner, takes_part,
};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

fn main() -> ExitCode {
    Subject::new("Rust")
        .test(Test::frame("lock.free", |_| Ok(Lock(Mutex::new(0)))))
        .test(Test::latency("thread.start", |_| Ok(Start)).threads(2))
        .test(Test::series("storage.kept", |bytes| Ok(Storage::of(bytes))).arg("bytes"))
        .serve()
}

/// A lock that nobody else wants.
struct Lock(Mutex<u64>);

impl Frames for Lock {
    fn control(&mut self, iterations: u64) -> Result<u64, Failure> {
        let (mut sum, mut index) = (0, 0);
        while index < iterations {
            sum += index;
            index = increment(index);
        }
        Ok(sum)
    }

    fn test(&mut self, iterations: u64) -> Result<u64, Failure> {
        let (mut sum, mut index) = (0, 0);
        while index < iterations {
            let mut within = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            *within = index;
            drop(within);
            sum += index;
            index = increment(index);
        }
        Ok(sum)
    }
}

/// From before a thread is started to its first statement.
struct Start;

impl Operation for Start {
    fn operate(&mut self) -> Result<Sample, Failure> {
        let actual_ns = now_ns();
        let thread = start_partner(|| {
            let began_ns = now_ns();
            takes_part("partner");
            began_ns
        })?;
        let end_ns = thread.join().map_err(|_| "the thread panicked")?;
        Ok(Sample { actual_ns, end_ns })
    }
}

/// Storage that is taken and kept until the series ends.
struct Storage {
    bytes: usize,
    kept: Vec<Vec<u8>>,
}

impl Storage {
    fn of(bytes: u64) -> Self {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        Storage {
            bytes,
            kept: Vec::new(),
        }
    }
}

impl Turns for Storage {
    fn turn(&mut self, index: u64) -> Result<Turn, Failure> {
        let mut block: Vec<u8> = Vec::new();
        let refused = block
            .try_reserve_exact(self.bytes)
            .and_then(|()| self.kept.try_reserve(1));
        if let Err(why) = refused {
            return Ok(Turn::Exhausted(why.to_string()));
        }
        block.resize(self.bytes, index as u8);
        self.kept.push(block);
        Ok(Turn::Done)
    }
}
