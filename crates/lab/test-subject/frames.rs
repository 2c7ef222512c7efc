//! The frames that every kit has, and one whose cost a busy machine shows, too.

use crate::partner::Partner;
use crate::place::Place;
use crate::request::Refusal;

pub struct Frames {
    steps: [u64; 2],
    handoff: bool,
}

pub fn frames(test: &str) -> Result<Frames, Refusal> {
    let (steps, handoff) = match test {
        "self.same" => ([20, 20], false),
        "self.dearer" => ([20, 21], false),
        "probe.dear" => ([20, 220], false),
        "self.handoff" => ([0, 0], true),
        _ => return Err(Refusal("unknown-test", test.into())),
    };
    Ok(Frames { steps, handoff })
}

/// Runs this many steps of the reference's chain, from 1.
pub fn chain(steps: u64) -> u64 {
    chain_from(1, steps)
}

fn chain_from(start: u64, steps: u64) -> u64 {
    (0..steps).fold(start, |x, _| {
        std::hint::black_box(
            x.wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407),
        )
    })
}

impl Frames {
    pub fn partner(&self, place: Place) -> Option<Partner> {
        self.handoff.then(|| Partner::start(place))
    }

    /// Runs a frame; its checksum.
    pub fn run(&self, role: &str, iterations: u64, partner: &mut Option<Partner>) -> u64 {
        if role == "reference" {
            return chain(16 * iterations);
        }
        if let Some(partner) = partner {
            return (0..iterations).fold(0, |value, _| partner.pass(value));
        }
        let [control, test] = self.steps;
        let steps = if role == "control" { control } else { test };
        (0..iterations).fold(1, |value, _| chain_from(value, steps))
    }
}
