//! Where server and generator run, and what of these processors others used.

use crate::machine::typical_core_to_core_ns;
use antiphon_load::may_come_first;
use antiphon_measure::Placement;

/// The processors of a placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// Where the server is put.
    pub(super) server: Placement,
    /// The generator's processor; wherever the system puts it if not given.
    pub(super) generator: Option<usize>,
    /// The processors that either uses, the server's first; all where that is left to the system.
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

    /// Whether the generator may poll: on another processor than the server's, before the other work that is there.
    pub(super) fn may_poll(&self) -> bool {
        self.two().is_some() && may_come_first()
    }

    /// The server's processor and the generator's; `None` where both have one, or the system puts them.
    fn two(&self) -> Option<(usize, usize)> {
        let generator = self.generator?;
        match self.server {
            Placement::Same { processor } if processor as usize != generator => {
                Some((processor as usize, generator))
            }
            _ => None,
        }
    }

    /// The processors that others may have a part of: a generator that polls leaves them nothing of its own, so that what they have is seen on the server's alone.
    pub(super) fn watched(&self, polls: bool) -> &[usize] {
        match polls {
            true => &self.used[..1],
            false => &self.used,
        }
    }

    /// The core-to-core latency of server and generator, ns; `None` where both have one processor, or the system puts them.
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
