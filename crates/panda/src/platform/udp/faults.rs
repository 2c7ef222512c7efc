//! Faults of a network, for tests without root: around the receiving end, datagrams are lost,
//! doubled and late by a seed.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::{Duration, Instant};

use antiphon_panda_core::Chance;

/// The chances of faults, each datagram by itself. Written
/// `seed=7,lost=50,doubled=20,late=100,late_us=3000`; what is left out is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Faults {
    /// Seed of the draws; the rank is mixed in.
    pub seed: u64,
    /// Lost datagrams of a thousand.
    pub lost: u64,
    /// Doubled datagrams of a thousand.
    pub doubled: u64,
    /// Late datagrams of a thousand; others overtake them.
    pub late: u64,
    /// Longest delay, in microseconds.
    pub late_us: u64,
}

/// A word that describes no fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no fault of a network: write, for example, seed=7,lost=50,doubled=20,late=100,late_us=3000 (of a thousand datagrams)"
)]
pub struct FaultsError(String);

impl FromStr for Faults {
    type Err = FaultsError;

    fn from_str(text: &str) -> Result<Self, FaultsError> {
        let mut faults = Self::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let refused = || FaultsError(word.to_owned());
            let (name, value) = word.split_once('=').ok_or_else(refused)?;
            let value: u64 = value.parse().map_err(|_| refused())?;
            let field = match name {
                "seed" => &mut faults.seed,
                "lost" => &mut faults.lost,
                "doubled" => &mut faults.doubled,
                "late" => &mut faults.late,
                "late_us" => &mut faults.late_us,
                _ => return Err(refused()),
            };
            if name != "seed" && name != "late_us" && value > 1000 {
                return Err(refused());
            }
            *field = value;
        }
        Ok(faults)
    }
}

impl std::fmt::Display for Faults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            seed,
            lost,
            doubled,
            late,
            late_us,
        } = self;
        write!(
            f,
            "seed={seed},lost={lost},doubled={doubled},late={late},late_us={late_us}"
        )
    }
}

/// Faults at work.
#[derive(Debug)]
pub struct Weather<D> {
    faults: Faults,
    chance: Chance,
    /// Late datagrams by their due times and numbers.
    late: BTreeMap<(Instant, u64), D>,
    count: u64,
}

impl<D: Clone> Weather<D> {
    /// Makes the weather of one receiver.
    pub fn new(faults: Faults, rank: u32) -> Self {
        let mut seeds = Chance::new(faults.seed);
        let chance = Chance::new(seeds.draw() ^ u64::from(rank));
        Self {
            faults,
            chance,
            late: BTreeMap::new(),
            count: 0,
        }
    }

    /// Passes a datagram on, perhaps twice, perhaps later, perhaps never.
    pub fn pass(&mut self, now: Instant, datagram: D, mut on: impl FnMut(D)) {
        if self.chance.happens(self.faults.lost) {
            return;
        }
        let times = 1 + u32::from(self.chance.happens(self.faults.doubled));
        for _ in 0..times {
            if self.chance.happens(self.faults.late) {
                let by = Duration::from_micros(self.chance.between(0, self.faults.late_us));
                self.count += 1;
                self.late.insert((now + by, self.count), datagram.clone());
            } else {
                on(datagram.clone());
            }
        }
    }

    /// Passes on the datagrams that are due.
    pub fn pass_late(&mut self, now: Instant, mut on: impl FnMut(D)) {
        while let Some(first) = self.late.first_entry().filter(|first| first.key().0 <= now) {
            on(first.remove());
        }
    }

    /// Returns when the next datagram is due.
    pub fn due(&self) -> Option<Instant> {
        self.late.first_key_value().map(|((at, _), _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_as_they_are_written() {
        let faults: Faults = "seed=7,lost=50,late=100,late_us=3000"
            .parse()
            .expect("good");
        assert_eq!(faults.to_string().parse(), Ok(faults));
        assert_eq!(faults.doubled, 0);
        for bad in ["lost", "lost=1001", "lost=-1", "wet=1"] {
            assert_eq!(bad.parse::<Faults>(), Err(FaultsError(bad.into())));
        }
    }

    #[test]
    fn the_same_seed_brings_the_same_weather() {
        let pass = |seed| {
            let faults = Faults {
                seed,
                lost: 100,
                doubled: 100,
                late: 100,
                late_us: 50,
            };
            let mut weather = Weather::new(faults, 1);
            let (now, mut passed) = (Instant::now(), Vec::new());
            for i in 0..1000_u32 {
                weather.pass(now, i, |datagram| passed.push(datagram));
            }
            assert!(weather.due().is_some());
            weather.pass_late(now + Duration::from_micros(50), |datagram| {
                passed.push(datagram)
            });
            assert_eq!(weather.due(), None);
            passed
        };
        let passed = pass(1);
        assert_eq!(passed, pass(1));
        assert_ne!(passed, pass(2));
        assert!(
            (950..1050).contains(&passed.len()),
            "{} of 1000",
            passed.len()
        );
    }
}
