//! Control page: memory that all processes of a process group share, apart from the measured
//! platform.
//!
//! The leader writes an order, increments `order` and wakes the sleeping members. A member executes
//! it and puts the order's number into its own `done`. During a slice no process looks at the
//! control page, so only the measured messages move.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::thread::futex::{Flags, Timespec, wait, wake};

use crate::failure::Failed;

/// The most members of a process group, the leader among them.
pub const MOST: usize = 16;
/// Bytes of a member's message.
const TEXT: usize = 1000;
/// The words for the bare platforms' own use begin here; a line each.
const WORDS: usize = 64 << 10;
/// The space for the bare ring begins here: one message each way.
const SPACE: usize = 128 << 10;
/// Bytes of a message in that space.
pub const LONGEST: usize = 16 << 20;
const LENGTH: usize = SPACE + MOST * LONGEST;

/// Order of the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Keep to a processor, and prepare a test.
    Prepare {
        /// Its place in the list.
        test: usize,
        /// Its argument.
        arg: u64,
        /// The processor of members; none: any.
        processor: Option<u32>,
        /// Whether the leader has another one.
        is_apart: bool,
    },
    /// Take part in a slice of this many iterations; of the control, none.
    Slice(u64),
    /// Say where you run.
    Report,
    /// Drop the prepared operation.
    Finish,
    /// End.
    Quit,
}

#[repr(C)]
struct Head {
    /// The number of the order below; a futex.
    order: AtomicU32,
    /// The number of the slice that is over; a futex.
    over: AtomicU32,
    /// Members that have done something; a futex that the leader sleeps on.
    news: AtomicU32,
    kind: AtomicU32,
    test: AtomicU64,
    number: AtomicU64,
    processor: AtomicU32,
    is_apart: AtomicU32,
    members: [Slot; MOST],
}

/// Report of a member.
#[repr(C, align(64))]
struct Slot {
    /// The number of the last slice that it has begun.
    begun: AtomicU32,
    /// The number of the last order that it has carried out.
    done: AtomicU32,
    /// Whether it failed at it.
    has_failed: AtomicU32,
    /// Context switches that it adds to the leader's for the last slice.
    switches: AtomicI64,
    length: AtomicU32,
    text: [AtomicU8; TEXT],
}

/// The page. The starter of a process group creates it; the group's processes map it by its name.
pub struct ControlPage {
    file: File,
    map: MmapRaw,
}

impl ControlPage {
    /// Creates an empty page. The system frees it after the last process that has it.
    pub fn new() -> io::Result<Self> {
        let file = File::from(memfd_create("antiphon-layer", MemfdFlags::CLOEXEC)?);
        file.set_len(LENGTH as u64)?;
        Self::of(file)
    }

    /// Opens the page with this name.
    pub fn open(name: &str) -> io::Result<Self> {
        let file = File::options().read(true).write(true).open(name)?;
        if file.metadata()?.len() != LENGTH as u64 {
            let why = "it is not the control page of a process group: only the subject itself starts members";
            return Err(io::Error::other(why));
        }
        Self::of(file)
    }

    fn of(file: File) -> io::Result<Self> {
        let map = MmapOptions::new().len(LENGTH).map_raw(&file)?;
        Ok(Self { file, map })
    }

    /// Returns the name by which a process finds the page as long as this one holds it.
    pub fn name(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    fn head(&self) -> &Head {
        const { assert!(size_of::<Head>() <= WORDS) };
        // SAFETY: the mapping is longer and aligned to a page, lives as long as `self`, and holds
        // atomics only, for which all bit patterns are values.
        unsafe { &*self.map.as_ptr().cast::<Head>() }
    }

    /// Returns a word for a bare platform's own use, on its own cache line.
    pub fn word(&self, number: usize) -> &AtomicU32 {
        assert!(number < (SPACE - WORDS) / 64);
        // SAFETY: in bounds by the assertion, aligned to 64 bytes, and used as an atomic only.
        unsafe {
            &*self
                .map
                .as_ptr()
                .add(WORDS + 64 * number)
                .cast::<AtomicU32>()
        }
    }

    /// Returns the space for one message of a member.
    pub fn space(&self, member: usize) -> *mut u8 {
        assert!(member < MOST);
        // SAFETY: in bounds by the assertion.
        unsafe { self.map.as_mut_ptr().add(SPACE + member * LONGEST) }
    }

    // --- The leader's side
    // ---------------------------------------------------------------------------

    /// Gives an order; its number.
    pub fn give(&self, order: Order) -> u32 {
        let head = self.head();
        let (kind, number) = match order {
            Order::Prepare {
                test,
                arg,
                processor,
                is_apart,
            } => {
                head.test.store(test as u64, SeqCst);
                head.processor.store(processor.unwrap_or(u32::MAX), SeqCst);
                head.is_apart.store(is_apart.into(), SeqCst);
                (0, arg)
            }
            Order::Slice(iterations) => (1, iterations),
            Order::Report => (2, 0),
            Order::Finish => (3, 0),
            Order::Quit => (4, 0),
        };
        head.kind.store(kind, SeqCst);
        head.number.store(number, SeqCst);
        let given = head.order.load(SeqCst).wrapping_add(1);
        head.order.store(given, SeqCst);
        wake_all(&head.order);
        given
    }

    /// Says that a slice is over.
    pub fn slice_is_over(&self, given: u32) {
        self.head().over.store(given, SeqCst);
        wake_all(&self.head().over);
    }

    /// Waits until members 1 … `size` − 1 have executed an order.
    ///
    /// # Errors
    /// The message of the first failed member. A member that dies ends the process group, which the
    /// group's starter ensures.
    pub fn wait_for(&self, given: u32, size: usize) -> Result<(), Failed> {
        for (rank, slot) in self.slots(size) {
            self.wait_until(&slot.done, given);
            if slot.has_failed.load(SeqCst) != 0 {
                let said = self.said(rank);
                return Err(Failed(format!("member {rank}: {said}")));
            }
        }
        Ok(())
    }

    /// Waits until they have begun a slice.
    pub fn wait_for_begin(&self, given: u32, size: usize) {
        for (_, slot) in self.slots(size) {
            self.wait_until(&slot.begun, given);
        }
    }

    fn slots(&self, size: usize) -> impl Iterator<Item = (usize, &Slot)> {
        let slots = self.head().members.iter().enumerate();
        slots.take(size).skip(1)
    }

    /// Sleeps until a member has put this number there.
    fn wait_until(&self, word: &AtomicU32, number: u32) {
        let news = &self.head().news;
        loop {
            let seen = news.load(SeqCst);
            if word.load(SeqCst) == number {
                return;
            }
            let _ = wait(news, Flags::empty(), seen, None);
        }
    }

    /// Returns the context switches that members 1 … `size` − 1 add to the leader's for the
    /// last slice.
    pub fn switches(&self, size: usize) -> i64 {
        let slots = self.head().members.iter().take(size).skip(1);
        slots.map(|slot| slot.switches.load(SeqCst)).sum()
    }

    /// Returns a member's last message.
    pub fn said(&self, rank: usize) -> String {
        let slot = &self.head().members[rank];
        let length = (slot.length.load(SeqCst) as usize).min(TEXT);
        let bytes: Vec<u8> = slot.text[..length]
            .iter()
            .map(|byte| byte.load(SeqCst))
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    // --- A member's side
    // -----------------------------------------------------------------------------

    /// Waits for the order after `last`; returns its number and the order.
    pub fn next_order(&self, last: u32) -> (u32, Order) {
        let head = self.head();
        let given = loop {
            let given = head.order.load(SeqCst);
            if given != last {
                break given;
            }
            let _ = wait(&head.order, Flags::empty(), last, None);
        };
        let number = head.number.load(SeqCst);
        let order = match head.kind.load(SeqCst) {
            0 => Order::Prepare {
                test: head.test.load(SeqCst) as usize,
                arg: number,
                processor: Some(head.processor.load(SeqCst)).filter(|&p| p != u32::MAX),
                is_apart: head.is_apart.load(SeqCst) != 0,
            },
            1 => Order::Slice(number),
            2 => Order::Report,
            3 => Order::Finish,
            _ => Order::Quit,
        };
        (given, order)
    }

    /// Says that a slice is begun.
    pub fn begin(&self, rank: usize, given: u32) {
        self.head().members[rank].begun.store(given, SeqCst);
        self.tell();
    }

    /// Sleeps until a slice is over.
    pub fn wait_for_end(&self, slice: u32) {
        let over = &self.head().over;
        loop {
            let seen = over.load(SeqCst);
            if seen == slice {
                return;
            }
            let _ = wait(over, Flags::empty(), seen, None);
        }
    }

    /// Says how an order went, and in a slice how many context switches it took.
    pub fn answer(&self, rank: usize, given: u32, went: Result<String, Failed>, switches: i64) {
        let slot = &self.head().members[rank];
        let (text, has_failed) = match went {
            Ok(text) => (text, 0),
            Err(Failed(why)) => (why, 1),
        };
        let bytes = &text.as_bytes()[..text.len().min(TEXT)];
        slot.text
            .iter()
            .zip(bytes)
            .for_each(|(to, byte)| to.store(*byte, SeqCst));
        slot.length.store(bytes.len() as u32, SeqCst);
        slot.switches.store(switches, SeqCst);
        slot.has_failed.store(has_failed, SeqCst);
        slot.done.store(given, SeqCst);
        self.tell();
    }

    fn tell(&self) {
        self.head().news.fetch_add(1, SeqCst);
        wake_all(&self.head().news);
    }
}

/// Sleeps while the word holds this, for a time at most.
pub fn sleep_while(word: &AtomicU32, value: u32, most: Duration) {
    let time = Timespec {
        tv_sec: most.as_secs() as i64,
        tv_nsec: most.subsec_nanos().into(),
    };
    let _ = wait(word, Flags::empty(), value, Some(&time));
}

/// Wakes all sleepers on the word.
pub fn wake_all(word: &AtomicU32) {
    let _ = wake(word, Flags::empty(), i32::MAX as u32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_arrive_as_they_were_given_and_answers_come_back() {
        let control_page = ControlPage::new().expect("a page");
        let seen = ControlPage::open(&control_page.name()).expect("the same page");
        let orders = [
            Order::Prepare {
                test: 3,
                arg: 1 << 24,
                processor: Some(1),
                is_apart: true,
            },
            Order::Prepare {
                test: 0,
                arg: 0,
                processor: None,
                is_apart: false,
            },
            Order::Slice(7),
            Order::Report,
            Order::Finish,
            Order::Quit,
        ];
        let mut last = 0;
        for order in orders {
            let given = control_page.give(order);
            let (number, taken) = seen.next_order(last);
            assert_eq!((number, taken), (given, order));
            seen.answer(1, number, Ok("here".into()), 5);
            control_page.wait_for(given, 2).expect("it went well");
            last = number;
        }
        assert_eq!(
            (control_page.switches(2), control_page.said(1)),
            (5, "here".into())
        );
        seen.answer(1, last, Err(Failed("no memory".into())), 0);
        let error = control_page.wait_for(last, 2).expect_err("it failed");
        assert_eq!(error.to_string(), "member 1: no memory");
    }

    #[test]
    fn what_is_no_board_is_refused() {
        let file = File::from(memfd_create("other", MemfdFlags::CLOEXEC).expect("a file"));
        let name = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        let error = ControlPage::open(&name).err().expect("refused").to_string();
        assert!(error.contains("not the control page"), "{error}");
    }
}
