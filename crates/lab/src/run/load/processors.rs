//! Where server and generator run, and what of these processors others used.

use crate::machine::typical_core_to_core_ns;
use crate::run::busy::busy_ns;
use antiphon_measure::Placement;

/// The processors of a placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// Where the server is put.
    pub(super) server: Placement,
    /// The generator's processor; wherever the system puts it if not given.
    pub(super) generator: Option<usize>,
    /// The processors that either uses; all where that is left to the system.
    pub(super) used: Vec<usize>,
}

impl Places {
    /// `same`: server and generator on one processor. `across`: the server on one, the generator on another. `free`: as the system puts them.
    pub(super) fn of(placement: Placement) -> Places {
        match placement {
            Placement::Same { processor } => Places {
                server: placement,
                generator: Some(processor as usize),
                used: vec![processor as usize],
            },
            Placement::Across { main, partner } => Places {
                server: Placement::Same { processor: main },
                generator: Some(partner as usize),
                used: vec![main as usize, partner as usize],
            },
            Placement::Free => Places {
                server: placement,
                generator: None,
                used: crate::machine::allowed_processors(),
            },
        }
    }

    /// Whether the generator has a processor on which the server does not run, so that it may have all of it.
    pub(super) fn generator_is_alone(&self) -> bool {
        match (self.server, self.generator) {
            (Placement::Same { processor }, Some(generator)) => processor as usize != generator,
            _ => false,
        }
    }

    /// The core-to-core latency of server and generator, ns; `None` where both have one processor, or the system puts them.
    pub(super) fn core_to_core_ns(&self) -> Option<f64> {
        match (self.server, self.generator) {
            (Placement::Same { processor }, Some(generator)) => {
                typical_core_to_core_ns(processor as usize, generator)
            }
            _ => None,
        }
    }

    /// Time that the processors were not idle since the machine was started, ns. It goes in steps of 10 ms.
    pub(super) fn busy_ns(&self) -> u64 {
        busy_ns(&self.used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_across_from_its_generator_has_one_processor() {
        let places = Places::of(Placement::Across {
            main: 1,
            partner: 0,
        });
        assert_eq!(places.server, Placement::Same { processor: 1 });
        assert_eq!((places.generator, &places.used[..]), (Some(0), &[1, 0][..]));
        assert!(places.generator_is_alone());
    }

    #[test]
    fn a_generator_that_may_meet_the_server_is_not_alone() {
        assert!(!Places::of(Placement::Same { processor: 1 }).generator_is_alone());
        assert!(!Places::of(Placement::Free).generator_is_alone());
    }
}
