//! This process's clock, and its offsets from other processes' clocks.

use std::time::{Duration, Instant};

use super::core::Core;
use super::engine::Request;
use super::{Session, number_of, upcall};
use crate::error::Error;
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::clock::{ClockOffset, Exchange, Measurement};

/// Name of the service by which each process tells its clock, without the program.
const CLOCK: &str = "antiphon: the clock of a session";

/// Exchanges of a measurement. The first exchanges of a new connection take longer than later ones.
const EXCHANGES: u32 = 16;

/// Returns the number of the service.
pub fn service() -> u64 {
    number_of(CLOCK)
}

/// Returns the answer of the clock service: nanoseconds, little-endian.
pub fn answer(clock: Duration) -> Message {
    Message::copy_of(&(clock.as_nanos() as u64).to_le_bytes())
}

impl Session {
    /// Returns the time by this process's clock for timelines.
    ///
    /// Each process counts from a moment of its own; [`clock_offset`](Self::clock_offset) tells how
    /// they differ. The clock runs as [`thread::now`](crate::thread::now) does.
    #[must_use]
    pub fn clock(&self) -> Duration {
        self.core().engine.clock()
    }

    /// Returns the reading of that clock at a moment in the past or future.
    #[must_use]
    pub fn clock_at(&self, moment: Instant) -> Duration {
        let engine = &self.core().engine;
        let (now, clock) = (engine.now(), engine.clock());
        match moment.checked_duration_since(now) {
            Some(until) => clock + until,
            None => clock.saturating_sub(now - moment),
        }
    }

    /// Measures how far another process's clock is ahead of this one's, by 16 exchanges with it.
    ///
    /// The true offset lies within the uncertainty while the measurement lasts. Clocks drift:
    /// measure again later, and interpolate between the two by their
    /// [`measured_at`](ClockOffset::measured_at). The peer answers while its session is driven. So
    /// an upcall that runs long there delays the answer and enlarges the uncertainty.
    ///
    /// # Errors
    /// [`Error::Lost`], [`Error::NoSuchRank`], [`Error::Over`]; this is an upcall.
    #[track_caller]
    pub fn clock_offset(&self, rank: Rank) -> Result<ClockOffset, Error> {
        upcall::must_not_wait()?;
        let core = self.core();
        core.check()?;
        core.check_rank(rank)?;
        if rank == core.rank {
            return Ok(ClockOffset {
                offset_ns: 0,
                uncertainty_ns: 0,
                measured_at: core.engine.clock(),
            });
        }
        let mut measurement = Measurement::default();
        for _ in 0..EXCHANGES {
            measurement.add(&core.exchange_clocks(rank)?);
        }
        measurement.offset().ok_or(Error::Over)
    }
}

impl Core {
    fn exchange_clocks(&self, rank: Rank) -> Result<Exchange, Error> {
        let service = service();
        let asked = self.engine.clock();
        let request = (Request::Call { service }, Message::new());
        let mut answer = self.ask_peer(rank, request, CLOCK, None)?;
        let came = self.engine.clock();
        let answered = Duration::from_nanos(u64::from_le_bytes(answer.pop()?));
        Ok(Exchange {
            asked,
            answered,
            came,
        })
    }
}
