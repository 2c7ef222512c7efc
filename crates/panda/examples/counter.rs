//! A replicated counter: every process adds to it, all copies go through the same values in the same order.
//!
//! `antiphon launch -n 4 --over tcp counter [ADDITIONS]`

use std::sync::mpsc;

use antiphon_panda::{Error, GroupEvent, Message, Session};

fn main() -> Result<(), Error> {
    let additions: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1000);
    let session = Session::join()?;
    let all = session.everyone()?;
    let expected = additions * u64::from(session.size());
    let (done, finished) = mpsc::channel();
    // The copy lives in the upcall, which sees the additions in the one order.
    let (mut value, mut count, mut trace) = (0u64, 0u64, 0u64);
    let group = session.join_group("counter", move |event| {
        let GroupEvent::Message { from, payload, .. } = event else {
            return;
        };
        let Ok(amount) = payload.value::<u64>() else {
            return;
        };
        value += amount;
        count += 1;
        // Depends on the order, unlike the sum.
        trace = trace
            .wrapping_mul(31)
            .wrapping_add(u64::from(from) + amount);
        if count == expected {
            let _ = done.send((value, trace));
        }
    })?;
    all.barrier()?;
    for number in 0..additions {
        group.send(Message::of(&(number % 7))?)?;
    }
    let own = finished.recv().unwrap_or_default();
    let copies = all.gather(0, &own)?;
    if let Some(copies) = copies {
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
    group.leave()
}
