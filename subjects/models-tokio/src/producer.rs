//! One producer, one consumer, one slot.

use crate::work::compute;
use crate::{Told, total};
use std::cell::Cell;
use std::rc::Rc;
use tokio::sync::mpsc;
use tokio::task::{JoinSet, yield_now};

/// A channel with one slot.
pub async fn concurrent(items: usize, work: usize) -> Told {
    let (slot, mut filled) = mpsc::channel(1);
    let mut running = JoinSet::new();
    running.spawn(async move {
        for i in 1..=items {
            let item = compute(i as i32, work);
            slot.send(item).await.expect("the consumer takes them all");
        }
        0
    });
    running.spawn(async move {
        let mut sum = 0;
        while let Some(item) = filled.recv().await {
            sum = added(sum, item, work);
        }
        sum
    });
    told(items, total(running).await)
}

/// A cell that both look at until their turn has come.
pub async fn cooperative(items: usize, work: usize) -> Told {
    let slot: Rc<Cell<Option<i32>>> = Rc::default();
    let filled = slot.clone();
    let mut running = JoinSet::new();
    running.spawn_local(async move {
        for i in 1..=items {
            let item = compute(i as i32, work);
            while slot.get().is_some() {
                yield_now().await;
            }
            slot.set(Some(item));
        }
        0
    });
    running.spawn_local(async move {
        let mut sum = 0;
        for _ in 0..items {
            let item = loop {
                match filled.take() {
                    Some(item) => break item,
                    None => yield_now().await,
                }
            };
            sum = added(sum, item, work);
        }
        sum
    });
    told(items, total(running).await)
}

fn added(sum: u32, item: i32, work: usize) -> u32 {
    let item = compute(item, work) as u32;
    sum.wrapping_mul(31).wrapping_add(item)
}

fn told(items: usize, sum: u32) -> Told {
    format!("items {items} sum {sum}").into()
}
