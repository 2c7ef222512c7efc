//! The life of a session's driver in one word. The driver is the thread that has the receiving end.
//!
//! ```text
//!       ┌───────────────── taken ──────────────────┐
//!       │                                          ▼
//!   ┌──────┐   taken   ┌────────┐    asleep    ┌────────┐
//!   │      │ ────────▶ │        │ ───────────▶ │        │
//!   │ Idle │           │ Driven │              │ Asleep │  in the inbox, or soon
//!   │      │ ◀──────── │        │ ◀─────────── │        │
//!   └──────┘   let_go  └────────┘    awake     └────────┘
//!       ▲                  │ over                  │
//!       └──────────────────┼──── let_go ───────────┘
//!                          ▼
//!                      ┌──────┐
//!                      │ Over │  the progress thread has let go for the last time
//!                      └──────┘
//!
//!   63           32 31            8 7    6      5       4          3  2         1    0
//!   ┌──────────────┬───────────────┬──────┬──────┬────────────┬──────┬──────────┬──────┐
//!   │ waits ended  │ threads that  │ stop │ rest │ deliveries │ ends │ progress │ life │
//!   │              │ want to drive │      │      │            │      │ thread   │      │
//!   └──────────────┴───────────────┴──────┴──────┴────────────┴──────┴──────────┴──────┘
//! ```
//!
//! A thread that brings work notes it here and learns from the same step whether the driver sleeps:
//! then it wakes the inbox. The driver announces its sleep here and learns from the same step which
//! work is noted: then it does not sleep. One of the two steps comes first, so no wake-up is lost.

use std::ops::{BitOr, BitOrAssign};

/// What the driver is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// No thread has the receiving end.
    Idle,
    /// A thread has it and runs.
    Driven,
    /// A thread has it and waits for frames, or soon will. A thread that brings work wakes the
    /// inbox.
    Asleep,
    /// The session has ended. No thread drives any more.
    Over,
}

/// Work that other threads note for the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work(u64);

impl Work {
    pub const NONE: Self = Self(0);
    /// Requests have ended that the driver itself may wait for.
    /// Set by the thread that ended them; cleared by the driver as it wakes.
    pub const ENDS: Self = Self(1 << 3);
    /// Deliveries lie ready to be handed to the program. Set by the thread that put them there,
    /// after that; cleared by the driver before it takes them.
    pub const DELIVERIES: Self = Self(1 << 4);
    /// The end of a long message has not gone out yet. The driver sends it on while it drives.
    /// Set only while somebody drives; cleared by the thread that then calls the progress thread.
    pub const REST: Self = Self(1 << 5);
}

impl BitOr for Work {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Work {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// How a thread came to drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// It waits and found the receiving end free. In one step it counts among those that want to
    /// drive, takes the receiving end, and announces that it may sleep.
    Waiter,
    /// It waits, and said before that it wants to drive.
    Wanter,
    /// The session's own thread. It lets go when another thread wants to drive.
    ProgressThread,
}

/// The word at one moment, and the steps from one moment to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DriverState(u64);

const LIFE: u64 = 0b11;
const PROGRESS_THREAD: u64 = 1 << 2;
/// Set once, by the thread that ends the session; never cleared.
const STOP: u64 = 1 << 6;
const WANTER: u64 = 1 << 8;
const WAIT: u64 = 1 << 32;

impl DriverState {
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub fn bits(self) -> u64 {
        self.0
    }

    #[inline]
    pub fn life(self) -> Life {
        match self.0 & LIFE {
            0 => Life::Idle,
            1 => Life::Driven,
            2 => Life::Asleep,
            _ => Life::Over,
        }
    }

    #[inline]
    fn with_life(self, life: Life) -> Self {
        Self(self.0 & !LIFE | life as u64)
    }

    /// Returns whether no thread can take the receiving end now.
    #[inline]
    pub fn is_taken(self) -> bool {
        self.life() != Life::Idle
    }

    #[inline]
    pub fn is_asleep(self) -> bool {
        self.life() == Life::Asleep
    }

    /// Returns whether the progress thread has the receiving end.
    #[inline]
    pub fn is_of_progress_thread(self) -> bool {
        self.0 & PROGRESS_THREAD != 0
    }

    /// Returns whether a waiting thread drives or wants to.
    #[inline]
    pub fn is_wanted(self) -> bool {
        (self.0 as u32) / WANTER as u32 != 0
    }

    /// Returns how many waits have ended, modulo 2³².
    pub fn waits_ended(self) -> u32 {
        (self.0 / WAIT) as u32
    }

    /// Returns whether the session is to end.
    #[inline]
    pub fn is_stopped(self) -> bool {
        self.0 & STOP != 0
    }

    /// Returns whether any of this work is noted.
    #[inline]
    pub fn has(self, work: Work) -> bool {
        self.0 & work.0 != 0
    }

    /// Returns whether the driver should look once and not sleep.
    #[inline]
    pub fn forbids_sleep(self) -> bool {
        self.has(Work::DELIVERIES | Work::ENDS) || self.is_of_progress_thread() && self.is_wanted()
    }

    /// Returns the state after a thread takes the receiving end, if it is free.
    #[inline]
    pub fn taken(self, role: Role) -> Option<Self> {
        let driven = (!self.is_taken()).then(|| self.with_life(Life::Driven))?;
        Some(match role {
            Role::Waiter => driven.wanted().asleep(),
            Role::Wanter => driven,
            Role::ProgressThread => Self(driven.0 | PROGRESS_THREAD),
        })
    }

    /// Returns the state after the driver announces that it may sleep.
    #[inline]
    pub fn asleep(self) -> Self {
        self.with_life(Life::Asleep)
    }

    /// Returns the state after the driver wakes. It now looks at the ended requests.
    #[inline]
    pub fn awake(self) -> Self {
        self.with_life(Life::Driven).without(Work::ENDS)
    }

    /// Returns the state after the driver lets go of the receiving end.
    #[inline]
    pub fn let_go(self, role: Role) -> Self {
        let idle = self.with_life(Life::Idle);
        match role {
            Role::Waiter => idle.wanted_no_more(),
            Role::Wanter => idle,
            Role::ProgressThread => Self(idle.0 & !PROGRESS_THREAD),
        }
    }

    /// Returns the state after the progress thread lets go for the last time.
    pub fn over(self) -> Self {
        Self(self.with_life(Life::Over).0 & !PROGRESS_THREAD)
    }

    /// Returns the state after one more thread wants to drive.
    #[inline]
    pub fn wanted(self) -> Self {
        Self(self.0 + WANTER)
    }

    /// Returns the state after one thread's wait has ended.
    #[inline]
    pub fn wanted_no_more(self) -> Self {
        Self((self.0 - WANTER).wrapping_add(WAIT))
    }

    /// Returns the state with work noted.
    #[inline]
    pub fn with(self, work: Work) -> Self {
        Self(self.0 | work.0)
    }

    /// Returns the state without work that is done or begun.
    #[inline]
    pub fn without(self, work: Work) -> Self {
        Self(self.0 & !work.0)
    }

    /// Returns the state of a session that is to end.
    pub fn stopped(self) -> Self {
        Self(self.0 | STOP)
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::*;

    const ROLES: [Role; 3] = [Role::Waiter, Role::Wanter, Role::ProgressThread];

    #[test]
    fn one_thread_drives_at_a_time_and_who_let_go_leaves_no_trace() {
        for role in ROLES {
            let before = DriverState::default().with(Work::REST);
            let driven = before.taken(role).expect("nobody drives");
            assert_eq!(driven.is_asleep(), role == Role::Waiter);
            assert_eq!(driven.is_of_progress_thread(), role == Role::ProgressThread);
            for state in [driven, driven.awake(), driven.asleep()] {
                assert!(ROLES.iter().all(|other| state.taken(*other).is_none()));
                let idle = state.let_go(role);
                let ended = u32::from(role == Role::Waiter);
                assert_eq!(idle.waits_ended(), ended);
                assert_eq!(idle.life(), Life::Idle);
                assert!(!idle.is_of_progress_thread() && !idle.is_wanted());
                assert!(idle.has(Work::REST));
            }
        }
        let over = DriverState::default().stopped().over();
        assert!(over.is_stopped() && over.life() == Life::Over);
        assert!(ROLES.iter().all(|role| over.taken(*role).is_none()));
    }

    #[test]
    fn ends_are_counted_and_the_count_may_run_over() {
        let all = u64::from(u32::MAX);
        let last = DriverState::from_bits(all * WAIT).wanted().wanted();
        let one_left = last.wanted_no_more();
        assert!(one_left.is_wanted());
        assert_eq!(one_left.waits_ended(), 0);
        let none_left = one_left.wanted_no_more();
        assert!(!none_left.is_wanted());
        assert_eq!(none_left, DriverState::from_bits(WAIT));
    }

    #[test]
    fn noted_work_forbids_sleep_until_the_driver_has_begun_with_it() {
        let driven = DriverState::default().taken(Role::Wanter).expect("free");
        assert!(!driven.asleep().forbids_sleep());
        assert!(!driven.with(Work::REST).forbids_sleep());
        for work in [Work::DELIVERIES, Work::ENDS] {
            assert!(driven.with(work).asleep().forbids_sleep());
        }
        let ends = driven.asleep().with(Work::ENDS);
        assert!(!ends.awake().forbids_sleep());
        let deliveries = driven.with(Work::DELIVERIES);
        assert!(deliveries.awake().forbids_sleep());
        assert!(!deliveries.without(Work::DELIVERIES).forbids_sleep());
    }

    /// A thread's next atomic step.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    enum Next {
        /// A thread that brings a delivery.
        Put,
        Note,
        WakeInbox,
        /// A thread that waits until a delivery is handed over.
        TakeTurn,
        Want,
        WakeProgressThread,
        TakeAsWanter,
        EnterRoom,
        LookAgain,
        /// Until another thread wakes it.
        InRoom,
        WantNoMore,
        /// The progress thread, which waits for nothing.
        TakeAsProgressThread,
        /// The thread is aside until it is called. In truth it also looks after a time.
        Aside,
        /// Any of the threads while it drives.
        LookWhetherDone(Role),
        FallAsleep(Role),
        /// Until the inbox is woken.
        InInbox(Role),
        WakeUp(Role),
        Clear(Role),
        HandOver(Role),
        WakeRoom(Role),
        LetGo(Role),
        /// The driver has let go.
        LookWhoWaits(bool),
        CallProgressThread(bool),
        WakeDriver(bool),
        Done,
    }

    const THREADS: usize = 4;

    /// The session at one moment. A thread that waits in a room or an inbox can be woken before it
    /// waits.
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    struct World {
        state: DriverState,
        /// Deliveries that lie ready, and those that were handed over.
        ready: u8,
        handed_over: u8,
        is_inbox_woken: bool,
        is_called: bool,
        is_in_room: [bool; THREADS],
        is_woken: [bool; THREADS],
        next: [Next; THREADS],
    }

    impl World {
        fn of(next: [Next; THREADS]) -> Self {
            Self {
                state: DriverState::default(),
                ready: 0,
                handed_over: 0,
                is_inbox_woken: false,
                is_called: false,
                is_in_room: [false; THREADS],
                is_woken: [false; THREADS],
                next,
            }
        }

        fn takes(&mut self, role: Role) -> bool {
            let taken = self.state.taken(role);
            self.state = taken.unwrap_or(self.state);
            taken.is_some()
        }

        /// Returns the world after a thread's next step; `None` if the thread sleeps or is done.
        fn after(&self, thread: usize) -> Option<Self> {
            use Next::*;
            let mut world = self.clone();
            let leave_room = |world: &mut Self, next| {
                (world.is_in_room[thread], world.is_woken[thread]) = (false, false);
                next
            };
            let next = match self.next[thread] {
                Put => {
                    world.ready += 1;
                    Note
                }
                Note => {
                    world.state = self.state.with(Work::DELIVERIES);
                    if self.state.is_asleep() {
                        WakeInbox
                    } else {
                        Done
                    }
                }
                WakeInbox => {
                    world.is_inbox_woken = true;
                    Done
                }
                TakeTurn if world.takes(Role::Waiter) => LookWhetherDone(Role::Waiter),
                TakeTurn => Want,
                Want => {
                    world.state = self.state.wanted();
                    match self.state.is_of_progress_thread() && self.state.is_asleep() {
                        true => WakeProgressThread,
                        false => TakeAsWanter,
                    }
                }
                WakeProgressThread => {
                    world.is_inbox_woken = true;
                    TakeAsWanter
                }
                TakeAsWanter if world.takes(Role::Wanter) => LookWhetherDone(Role::Wanter),
                TakeAsWanter => EnterRoom,
                EnterRoom => {
                    world.is_in_room[thread] = true;
                    LookAgain
                }
                LookAgain if self.handed_over > 0 => leave_room(&mut world, WantNoMore),
                LookAgain if self.state.is_taken() => InRoom,
                LookAgain => leave_room(&mut world, TakeAsWanter),
                InRoom if !self.is_woken[thread] => return None,
                InRoom if self.handed_over > 0 => leave_room(&mut world, WantNoMore),
                InRoom => leave_room(&mut world, TakeAsWanter),
                WantNoMore => {
                    world.state = self.state.wanted_no_more();
                    LookWhoWaits(false)
                }
                TakeAsProgressThread if world.takes(Role::ProgressThread) => {
                    LookWhetherDone(Role::ProgressThread)
                }
                TakeAsProgressThread => Aside,
                Aside if !self.is_called => return None,
                Aside => {
                    world.is_called = false;
                    TakeAsProgressThread
                }
                LookWhetherDone(role) => {
                    let is_done = match role {
                        Role::ProgressThread => self.state.is_wanted(),
                        _ => self.handed_over > 0,
                    };
                    if is_done {
                        LetGo(role)
                    } else {
                        FallAsleep(role)
                    }
                }
                FallAsleep(role) => {
                    world.state = self.state.asleep();
                    match world.state.forbids_sleep() {
                        true => WakeUp(role),
                        false => InInbox(role),
                    }
                }
                InInbox(_) if !self.is_inbox_woken => return None,
                InInbox(role) => {
                    world.is_inbox_woken = false;
                    WakeUp(role)
                }
                WakeUp(role) => {
                    world.state = self.state.awake();
                    Clear(role)
                }
                Clear(role) if self.state.has(Work::DELIVERIES) => {
                    world.state = self.state.without(Work::DELIVERIES);
                    HandOver(role)
                }
                Clear(role) => LookWhetherDone(role),
                HandOver(role) => {
                    world.handed_over += self.ready;
                    world.ready = 0;
                    WakeRoom(role)
                }
                WakeRoom(role) => {
                    world.is_woken = self.is_in_room;
                    LookWhetherDone(role)
                }
                LetGo(role) => {
                    world.state = self.state.let_go(role);
                    match role {
                        Role::Waiter => LookWhoWaits(false),
                        Role::Wanter => WantNoMore,
                        Role::ProgressThread => LookWhoWaits(true),
                    }
                }
                LookWhoWaits(is_own) => match self.is_in_room.contains(&true) {
                    true => WakeDriver(is_own),
                    false => CallProgressThread(is_own),
                },
                CallProgressThread(is_own) => {
                    world.is_called |= self.state.has(Work::DELIVERIES);
                    if is_own { Aside } else { Done }
                }
                WakeDriver(is_own) => {
                    let first = self.is_in_room.iter().position(|is_in| *is_in);
                    if let Some(first) = first.filter(|_| !self.state.is_taken()) {
                        world.is_woken[first] = true;
                    }
                    if is_own { Aside } else { Done }
                }
                Done => return None,
            };
            world.next[thread] = next;
            Some(world)
        }

        /// Checks a world in which no thread goes on by itself: no thread may count on being woken.
        fn check_at_rest(&self) {
            let sleeps = |next: &Next| matches!(next, Next::InInbox(_));
            let somebody_sleeps = self.next.iter().any(sleeps);
            assert_eq!(self.state.is_asleep(), somebody_sleeps, "{self:?}");
            assert!(!somebody_sleeps || !self.state.forbids_sleep(), "{self:?}");
            assert!(!somebody_sleeps || self.ready == 0, "{self:?}");
            if self.next.contains(&Next::InRoom) {
                assert!(
                    somebody_sleeps,
                    "nobody drives for those who wait: {self:?}"
                );
                assert_eq!(
                    self.handed_over, 0,
                    "somebody waits for what has come: {self:?}"
                );
            }
        }
    }

    /// Takes the steps of all threads in every order.
    fn explore(next: [Next; THREADS]) {
        let mut ahead = vec![World::of(next)];
        let mut seen: FxHashSet<World> = ahead.iter().cloned().collect();
        while let Some(world) = ahead.pop() {
            let after: Vec<World> = (0..THREADS)
                .filter_map(|thread| world.after(thread))
                .collect();
            if after.is_empty() {
                world.check_at_rest();
            }
            ahead.extend(after.into_iter().filter(|world| seen.insert(world.clone())));
        }
    }

    #[test]
    fn no_wake_up_is_lost_in_any_order_of_steps() {
        use Next::{Done, Put, TakeAsProgressThread, TakeTurn};
        explore([TakeTurn, TakeTurn, Put, Done]);
        explore([TakeTurn, Put, TakeAsProgressThread, Done]);
        if !cfg!(miri) {
            explore([TakeTurn, Put, Put, TakeAsProgressThread]);
            explore([TakeTurn, TakeTurn, Put, TakeAsProgressThread]);
            explore([TakeTurn, TakeTurn, TakeTurn, Put]);
        }
    }
}
