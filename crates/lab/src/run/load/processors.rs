//! Processors of server and generator, and their use by others.

use crate::machine::typical_core_to_core_ns;
use antiphon_load::may_come_first;
use antiphon_measure::Placement;

/// The processors of a placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// Placement of the server.
    pub(super) server: Placement,
    /// The generator's processor; wherever the system puts it if not given.
    pub(super) generator: Option<usize>,
    /// The processors that either uses, the server's first; all where that is left to the system.
    pub(super) used: Vec<usize>,
}

impl Places {
    /// Returns the places of a placement.
    ///
    /// `same`: server and generator on one processor. `across`: the server on one, the generator on
    /// another. `free`: the system places them.
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

    /// Checks whether the generator may poll: it has a processor other than the server's, and
    /// precedes other work there.
    pub(super) fn may_poll(&self) -> bool {
        self.two().is_some() && may_come_first()
    }

    /// Returns the server's processor and the generator's; `None` if both have one, or the system
    /// places them.
    fn two(&self) -> Option<(usize, usize)> {
        let generator = self.generator?;
        match self.server {
            Placement::Same { processor } if processor as usize != generator => {
                Some((processor as usize, generator))
            }
            _ => None,
        }
    }

    /// Returns the processors on which others are watched. A polling generator leaves none of its
    /// own, so only the server's shows others.
    pub(super) fn watched(&self, polls: bool) -> &[usize] {
        match polls {
            true => &self.used[..1],
            false => &self.used,
        }
    }

    /// Returns the core-to-core latency of server and generator, ns; `None` if both have one
    /// processor, or the system places them.
    pub(super) fn core_to_core_ns(&self) -> Option<f64> {
        let (server, generator) = self.two()?;
        typical_core_to_core_ns(server, generator)
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
        assert_eq!(places.two(), Some((1, 0)));
        // Beside a generator that polls others may have a part of the server's alone.
        assert_eq!(
            (places.watched(true), places.watched(false)),
            (&[1][..], &[1, 0][..])
        );
    }

    #[test]
    fn a_generator_that_may_meet_the_server_does_not_poll() {
        for placement in [Placement::Same { processor: 1 }, Placement::Free] {
            let places = Places::of(placement);
            assert_eq!(places.two(), None);
            assert!(!places.may_poll());
        }
    }
}
