//! A replicated counter. Every process adds to it, and all copies take the same values in the same
//! order.
//!
//! ```text
//! cargo build --release -p antiphon-panda --examples
//! antiphon launch -n 4 --over tcp target/release/examples/counter [ADDITIONS]
//! ```

use std::sync::{Arc, Mutex};

use antiphon_panda::{GroupEvent, Message, Session};

/// This process's copy.
#[derive(Default)]
struct Copy {
    value: u64,
    additions: u64,
    /// This value depends on the order of additions, unlike `value`.
    trace: u64,
    /// Why no more additions of all processes come.
    ended: Option<String>,
}

impl Copy {
    /// Applies an event of the group. All members see the same order.
    fn follow(&mut self, event: GroupEvent) {
        match event {
            GroupEvent::Message { from, payload, .. } => {
                let Ok(amount) = payload.value::<u64>() else {
                    return;
                };
                self.value += amount;
                self.additions += 1;
                self.trace = (self.trace.wrapping_mul(31)).wrapping_add(u64::from(from) + amount);
            }
            GroupEvent::View { left, .. } if !left.is_empty() => {
                self.ended = Some(format!("ranks {left:?} left"));
            }
            GroupEvent::Expelled { why } => self.ended = Some(why),
            GroupEvent::View { .. } | GroupEvent::Left => {}
        }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let additions: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1000);
    let session = Session::join()?;
    let all = session.everyone()?;
    let expected = additions * u64::from(session.size());
    let copy = Arc::<Mutex<Copy>>::default();
    let own = copy.clone();
    let group = session.join_group("counter", move |event| {
        own.lock().expect("no upcall panics").follow(event);
    })?;
    all.barrier()?;
    for number in 0..additions {
        group.send(Message::of(&(number % 7))?)?;
    }
    // Drives the session until all additions have come, or cannot come any more.
    let is_over = || {
        let copy = copy.lock().expect("no upcall panics");
        copy.additions >= expected || copy.ended.is_some()
    };
    session.wait_until(is_over, None)?;
    let own = {
        let copy = copy.lock().expect("no upcall panics");
        if copy.additions < expected {
            let why = copy.ended.as_deref().unwrap_or("the session ended");
            return Err(format!("{} of {expected} additions came: {why}", copy.additions).into());
        }
        (copy.value, copy.trace)
    };
    if let Some(copies) = all.gather(0, &own)? {
        let is_same = copies.iter().all(|copy| *copy == copies[0]);
        println!(
            "{} copies, value {}, {}",
            copies.len(),
            copies[0].0,
            if is_same {
                "one order"
            } else {
                "ORDERS DIFFER"
            }
        );
    }
    all.barrier()?;
    group.leave()?;
    Ok(())
}
