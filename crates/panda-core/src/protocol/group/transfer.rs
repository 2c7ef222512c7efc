//! State transfer: a member that joins gets the program's state from an older member.
//!
//! The programs of a group's members keep copies of some state, to which they apply the events. A
//! member that joins asks an older one, the *giver*. The giver's program makes a snapshot between
//! two events, which goes to the joiner in parts. The joiner's own events wait for it. Those up to
//! the snapshot's place are in it; the others are handed over after it.
//!
//! ```text
//!   joiner                                giver
//!     │ in since the view at place 7        │
//!     │── Ask (7 or later) ────────────────▶│ has been told of place 9: snapshot
//!     │◀──────────── Part (9, from byte 0) ─│
//!     │◀───────── Part (9, from byte 64 K) ─│ at most `WINDOW` is under way
//!     │── Took (128 K) ────────────────────▶│
//!     │◀─────────────────────────── Part … ─│
//!     │ told of place 9: installs, then 10  │
//! ```
//!
//! A giver that leaves the group, or is lost, has the joiner ask the next one for a snapshot of its
//! own. That matters beyond its loss: a member that is expelled may be ahead of the order, and its
//! snapshot with it. The view without it begins before the order reaches the snapshot's place, so a
//! joiner that waits for that place never installs such a snapshot.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{GroupEvent, Myself, Ticket};
use crate::Rank;
use crate::message::Message;
use crate::protocol::Time;
use crate::protocol::fault::{Fault, Mutant};
use crate::protocol::requests;

#[cfg(test)]
mod tests;

/// Bytes of a snapshot in one part.
const PART: usize = 64 << 10;
/// Most bytes of a snapshot under way. The order's messages to the joiner wait behind them.
const WINDOW: usize = 256 << 10;
/// Number of bytes after which the joiner acknowledges.
const TOOK_EVERY: usize = WINDOW / 2;

/// Reason of a process that gives no state because it is not in the group.
const NO_MEMBER: &str = "is no member";

/// A joiner's number for its request to one giver.
pub type TransferId = u64;

/// A note between joiners and givers.
#[derive(Debug, Serialize, Deserialize)]
pub enum Note {
    /// From a joiner: the request for a snapshot of this place or a later one.
    Ask { id: TransferId, least: u64 },
    /// From a giver: the bytes behind the first `at` bytes of a place's snapshot, which has
    /// `length` bytes.
    Part {
        id: TransferId,
        place: u64,
        length: u64,
        at: u64,
    },
    /// From a joiner: so many bytes have come.
    Took { id: TransferId, upto: u64 },
    /// From a joiner: so many bytes have come, and nothing more for long.
    Again { id: TransferId, upto: u64 },
    /// From a joiner: the snapshot is complete, or no longer wanted.
    Done { id: TransferId },
    /// From a giver: the snapshot is gone.
    Forgot { id: TransferId },
    /// From a process that gives nothing, with the reason.
    Refuse { id: TransferId, why: String },
}

impl Note {
    /// Returns the answer of a process that does not know the group.
    pub fn refusal(&self) -> Option<Self> {
        let (Self::Ask { id, .. } | Self::Again { id, .. }) = *self else {
            return None;
        };
        let why = NO_MEMBER.into();
        Some(Self::Refuse { id, why })
    }
}

/// A request to a program for its group.
#[derive(Debug)]
pub enum StateRequest {
    /// Makes a snapshot of the present copy, after the event at `place`. The program answers by
    /// [`give_state`](crate::protocol::Stack::give_state).
    Snapshot {
        /// The joiner.
        to: Rank,
        /// The joiner's number for the transfer.
        id: TransferId,
        /// The place of the last event that the program was told of.
        place: u64,
    },
    /// Installs a snapshot in the program's copy. It holds the effects of the events up to `place`.
    Install {
        /// The place.
        place: u64,
        /// Another member's snapshot.
        state: Message,
    },
    /// Asks for nothing: no member gives a snapshot, so this process leaves.
    Missing {
        /// The reason.
        why: String,
    },
}

/// Something for the program, in order.
#[derive(Debug)]
pub enum Handed {
    Event(GroupEvent, Option<Ticket>),
    State(StateRequest),
}

/// The outcome of an input.
#[derive(Debug, Default)]
pub struct Outcome {
    pub sends: Vec<(Rank, Note, Message)>,
    pub handed: Vec<Handed>,
    /// Whether this process leaves the group.
    pub leaves: bool,
}

/// The transfer of state in one group, as one process sees it.
#[derive(Debug)]
pub struct Transfer {
    silence: Duration,
    /// Number of the last transfer that was requested.
    last_id: TransferId,
    /// Whether the program of this membership gives and takes snapshots.
    has_state: bool,
    phase: Phase,
    /// Place of the last event that was handed over.
    place: u64,
    /// Members of the last view that was handed over.
    members: Vec<Rank>,
    givings: BTreeMap<Rank, Giving>,
    fault: Fault,
}

#[derive(Debug, Default)]
enum Phase {
    /// The process is no member.
    #[default]
    Outside,
    /// Events are handed over as they come.
    Inside,
    /// Events wait for a snapshot.
    Fetching(Box<Fetch>),
    /// There is no snapshot, and this process is about to leave.
    Leaving,
}

/// A joiner's part.
#[derive(Debug)]
struct Fetch {
    /// Members that were there before this one and have not refused. The first is the giver.
    elders: VecDeque<Rank>,
    id: TransferId,
    least: u64,
    coming: Option<Coming>,
    /// Events since this process's view.
    events: VecDeque<(GroupEvent, Option<Ticket>)>,
    /// Place of the last of them.
    place: u64,
    /// Time to ask again if nothing comes.
    again_at: Time,
    /// Reasons of members that gave nothing.
    refusals: Vec<String>,
}

/// A snapshot that comes in parts.
#[derive(Debug)]
struct Coming {
    place: u64,
    length: u64,
    state: Message,
    /// Number of bytes that were acknowledged.
    reported: usize,
}

impl Coming {
    fn is_whole(&self) -> bool {
        self.state.len() as u64 == self.length
    }
}

/// A giver's part, for one joiner.
#[derive(Debug)]
struct Giving {
    id: TransferId,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// This member was not told of that place yet.
    Waits { least: u64 },
    /// Its program makes the snapshot of a place.
    Makes { place: u64 },
    Sends {
        place: u64,
        state: Bytes,
        sent: usize,
        taken: usize,
    },
}

impl Transfer {
    pub fn new(myself: Myself) -> Self {
        Self {
            silence: myself.silence,
            // No two lives of a rank use the same numbers.
            last_id: requests::before_first(myself.birth),
            has_state: false,
            phase: Phase::Outside,
            place: 0,
            members: Vec::new(),
            givings: BTreeMap::new(),
            fault: Fault::default(),
        }
    }

    /// Injects a fault, to see whether the simulator notices.
    #[cfg(feature = "mutants")]
    pub fn mutate(&mut self, fault: Fault) {
        self.fault = fault;
    }

    /// Notes that the program asks to join, and whether it gives and takes snapshots.
    pub fn joins(&mut self, has_state: bool) {
        self.has_state = has_state;
    }

    /// Returns the member that this process waits for.
    pub fn giver(&self) -> Option<Rank> {
        match &self.phase {
            Phase::Fetching(fetch) => fetch.elders.front().copied(),
            _ => None,
        }
    }

    /// Notes a message that is handed over, if nothing else is to be done with it, and returns
    /// whether that holds.
    #[inline]
    pub fn passes(&mut self, event: &GroupEvent) -> bool {
        let GroupEvent::Message { place, .. } = event else {
            return false;
        };
        let passes = matches!(self.phase, Phase::Inside) && self.givings.is_empty();
        if passes {
            self.place = *place;
        }
        passes
    }

    /// Begins a membership with its first event. `elders` were members before.
    pub fn enter(
        &mut self,
        now: Time,
        event: GroupEvent,
        mut elders: VecDeque<Rank>,
        out: &mut Outcome,
    ) {
        let Some(least) = event
            .place()
            .filter(|_| self.has_state && !elders.is_empty())
        else {
            self.phase = Phase::Inside;
            self.hand_over(event, None, out);
            return;
        };
        // The first member has most to do, so it is asked last.
        elders.rotate_left(1);
        let mut fetch = Box::new(Fetch {
            elders,
            id: 0,
            least,
            coming: None,
            events: VecDeque::from([(event, None)]),
            place: least,
            again_at: now,
            refusals: Vec::new(),
        });
        self.ask(now, &mut fetch, out);
        self.phase = Phase::Fetching(fetch);
    }

    /// Takes an event of a membership that has begun, or that never does.
    pub fn take(
        &mut self,
        now: Time,
        event: GroupEvent,
        ticket: Option<Ticket>,
        out: &mut Outcome,
    ) {
        if event.is_end() {
            self.end(event, out);
            return;
        }
        match &mut self.phase {
            Phase::Outside | Phase::Inside => self.hand_over(event, ticket, out),
            Phase::Leaving => {}
            Phase::Fetching(fetch) => {
                let is_giver_gone = fetch.follow(&event);
                if self.fault.is(Mutant::DeliversWhileFetching) {
                    out.handed.push(Handed::Event(event.clone(), None));
                }
                fetch.events.push_back((event, ticket));
                if is_giver_gone {
                    self.ask_next(now, out);
                } else {
                    self.install_if_whole(out);
                }
            }
        }
    }

    fn hand_over(&mut self, event: GroupEvent, ticket: Option<Ticket>, out: &mut Outcome) {
        // The view of a snapshot may be before its place.
        self.place = event.place().unwrap_or(0).max(self.place);
        if let GroupEvent::View { members, .. } = &event {
            self.members.clone_from(members);
            // The view of a later joiner may be still to come: its request waits for that.
            let place = self.place;
            self.givings
                .retain(|to, giving| giving.waits_beyond(place) || members.contains(to));
        }
        out.handed.push(Handed::Event(event, ticket));
        self.make_snapshots(out);
    }

    fn end(&mut self, event: GroupEvent, out: &mut Outcome) {
        self.phase = Phase::Outside;
        self.place = 0;
        self.members.clear();
        self.refuse_all("is no member any more", out);
        out.handed.push(Handed::Event(event, None));
    }

    fn refuse_all(&mut self, why: &str, out: &mut Outcome) {
        for (to, giving) in std::mem::take(&mut self.givings) {
            refuse(to, giving.id, why, out);
        }
    }

    /// Makes the program take the snapshots that wait for nothing any more.
    fn make_snapshots(&mut self, out: &mut Outcome) {
        if !matches!(self.phase, Phase::Inside) {
            return;
        }
        let mut strangers = Vec::new();
        for (&to, giving) in &mut self.givings {
            let Stage::Waits { least } = giving.stage else {
                continue;
            };
            if least > self.place {
                continue;
            }
            if !self.members.contains(&to) {
                strangers.push(to);
                continue;
            }
            let is_late = u64::from(self.fault.is(Mutant::SnapshotsLate));
            let place = self.place - is_late;
            giving.stage = Stage::Makes { place };
            let id = giving.id;
            let request = StateRequest::Snapshot { to, id, place };
            out.handed.push(Handed::State(request));
        }
        for to in strangers {
            if let Some(giving) = self.givings.remove(&to) {
                refuse(to, giving.id, "is in a view that does not have it", out);
            }
        }
    }

    /// Takes the program's snapshot, or the reason why there is none.
    pub fn give(
        &mut self,
        (to, id): (Rank, TransferId),
        snapshot: Result<Message, String>,
        out: &mut Outcome,
    ) {
        let Some(giving) = self.givings.get_mut(&to).filter(|giving| giving.id == id) else {
            return;
        };
        let Stage::Makes { place } = giving.stage else {
            return;
        };
        match snapshot {
            Ok(state) => {
                giving.stage = Stage::Sends {
                    place,
                    state: state.to_bytes(),
                    sent: 0,
                    taken: 0,
                };
                giving.send(to, true, out);
            }
            Err(why) => {
                self.givings.remove(&to);
                refuse(to, id, &format!("made no snapshot: {why}"), out);
            }
        }
    }

    /// Takes a note.
    pub fn receive(&mut self, now: Time, from: Rank, note: Note, body: Message, out: &mut Outcome) {
        match note {
            Note::Ask { id, least } => self.asked(from, id, least, out),
            Note::Part {
                id,
                place,
                length,
                at,
            } => {
                let part = (place, length, at);
                if let Phase::Fetching(fetch) = &mut self.phase
                    && fetch.is_from(from, id)
                    && fetch.add(part, body)
                {
                    fetch.again_at = now + self.silence;
                    fetch.tell_giver(from, out);
                    self.install_if_whole(out);
                }
            }
            Note::Took { id, upto } => self.took(from, id, upto, false, out),
            Note::Again { id, upto } => self.took(from, id, upto, true, out),
            Note::Done { id } => {
                let is_it = self.givings.get(&from).is_some_and(|known| known.id == id);
                if is_it {
                    self.givings.remove(&from);
                }
            }
            Note::Forgot { id } => {
                if let Phase::Fetching(fetch) = &mut self.phase
                    && fetch.is_from(from, id)
                {
                    self.ask_next(now, out);
                }
            }
            Note::Refuse { id, why } => {
                if let Phase::Fetching(fetch) = &mut self.phase
                    && fetch.is_from(from, id)
                {
                    fetch.refusals.push(format!("rank {from} {why}"));
                    fetch.elders.pop_front();
                    self.ask_next(now, out);
                }
            }
        }
    }

    fn asked(&mut self, from: Rank, id: TransferId, least: u64, out: &mut Outcome) {
        let why = match self.phase {
            Phase::Outside | Phase::Leaving => Some(NO_MEMBER),
            _ if !self.has_state => Some("joined without a state to give"),
            _ => None,
        };
        if let Some(why) = why {
            refuse(from, id, why, out);
            return;
        }
        let is_asked_again = self.givings.get(&from).is_some_and(|known| known.id == id);
        if is_asked_again {
            self.took(from, id, 0, true, out);
            return;
        }
        let stage = Stage::Waits { least };
        self.givings.insert(from, Giving { id, stage });
        self.make_snapshots(out);
    }

    /// Notes that a joiner has so much of a snapshot. Bytes sent behind that may be lost.
    fn took(&mut self, from: Rank, id: TransferId, upto: u64, is_lost: bool, out: &mut Outcome) {
        let Some(giving) = self.givings.get_mut(&from).filter(|known| known.id == id) else {
            if is_lost {
                out.sends.push((from, Note::Forgot { id }, Message::new()));
            }
            return;
        };
        let Stage::Sends { sent, taken, .. } = &mut giving.stage else {
            return;
        };
        let upto = usize::try_from(upto).unwrap_or(usize::MAX);
        *taken = upto.min(*sent).max(*taken);
        if is_lost {
            *sent = *taken;
        }
        giving.send(from, is_lost, out);
    }

    /// Notes that a peer is lost, or its link began anew. A joiner asks another member, if there is
    /// one, since the view without the peer may come late. A giver frees the snapshot.
    pub fn lost(&mut self, now: Time, rank: Rank, out: &mut Outcome) {
        self.givings.remove(&rank);
        if let Phase::Fetching(fetch) = &mut self.phase
            && fetch.elders.front() == Some(&rank)
            && fetch.elders.len() > 1
        {
            let id = fetch.id;
            out.sends.push((rank, Note::Done { id }, Message::new()));
            fetch.elders.rotate_left(1);
            self.ask_next(now, out);
        }
    }

    /// Returns when [`tick`](Self::tick) is next needed.
    pub fn deadline(&self) -> Option<Time> {
        match &self.phase {
            Phase::Fetching(fetch) if !fetch.is_whole() => Some(fetch.again_at),
            _ => None,
        }
    }

    /// Repeats the note that the giver may have missed, if nothing has come for a silence.
    pub fn tick(&mut self, now: Time, out: &mut Outcome) {
        if let Phase::Fetching(fetch) = &mut self.phase
            && fetch.again_at <= now
            && !fetch.is_whole()
            && let Some(&giver) = fetch.elders.front()
        {
            fetch.again_at = now + self.silence;
            out.sends.push((giver, fetch.again(), Message::new()));
        }
    }

    /// Drops the last giver's snapshot, and asks the next giver. If there is none this process
    /// leaves.
    fn ask_next(&mut self, now: Time, out: &mut Outcome) {
        let Phase::Fetching(mut fetch) = std::mem::replace(&mut self.phase, Phase::Leaving) else {
            return;
        };
        fetch.coming = None;
        if !fetch.elders.is_empty() {
            self.ask(now, &mut fetch, out);
            self.phase = Phase::Fetching(fetch);
            return;
        }
        let why = fetch.refusals.join("; ");
        let missing = StateRequest::Missing { why };
        out.handed.push(Handed::State(missing));
        out.leaves = true;
        self.refuse_all("has none, and nobody gave it one", out);
    }

    fn ask(&mut self, now: Time, fetch: &mut Fetch, out: &mut Outcome) {
        self.last_id += 1;
        fetch.id = self.last_id;
        fetch.again_at = now + self.silence;
        if let Some(&giver) = fetch.elders.front() {
            out.sends.push((giver, fetch.again(), Message::new()));
        }
    }

    /// Installs the snapshot if it is complete and this process's own events have come up to its
    /// place. Then hands over the events behind that place.
    fn install_if_whole(&mut self, out: &mut Outcome) {
        let Phase::Fetching(fetch) = &mut self.phase else {
            return;
        };
        let own = match self.fault.is(Mutant::InstallsTooEarly) {
            true => u64::MAX,
            false => fetch.place,
        };
        let is_ready = |coming: &mut Coming| coming.is_whole() && coming.place <= own;
        let Some(Coming { place, state, .. }) = fetch.coming.take_if(is_ready) else {
            return;
        };
        let events = std::mem::take(&mut fetch.events);
        self.phase = Phase::Inside;
        self.place = place;
        let install = StateRequest::Install { place, state };
        out.handed.push(Handed::State(install));
        let is_within = |(event, _): &(GroupEvent, _)| event.place().is_none_or(|at| at <= place);
        let (within, behind): (Vec<_>, Vec<_>) = events.into_iter().partition(is_within);
        if let Some(view) = last_view(within) {
            self.hand_over(view, None, out);
        }
        for (event, ticket) in behind {
            self.hand_over(event, ticket, out);
        }
    }
}

/// Returns the last view among some events, in the form for a new member.
fn last_view(events: Vec<(GroupEvent, Option<Ticket>)>) -> Option<GroupEvent> {
    let mut views = events.into_iter().rev().map(|(event, _)| event);
    let mut view = views.find(|event| matches!(event, GroupEvent::View { .. }))?;
    if let GroupEvent::View {
        members,
        joined,
        left,
        ..
    } = &mut view
    {
        joined.clone_from(members);
        left.clear();
    }
    Some(view)
}

fn refuse(to: Rank, id: TransferId, why: &str, out: &mut Outcome) {
    let why = why.into();
    out.sends
        .push((to, Note::Refuse { id, why }, Message::new()));
}

impl Fetch {
    fn is_whole(&self) -> bool {
        self.coming.as_ref().is_some_and(Coming::is_whole)
    }

    fn is_from(&self, rank: Rank, id: TransferId) -> bool {
        self.elders.front() == Some(&rank) && self.id == id
    }

    /// Follows an event. Returns whether the giver is no member any more, or another than it was.
    fn follow(&mut self, event: &GroupEvent) -> bool {
        self.place = event.place().unwrap_or(self.place);
        let GroupEvent::View {
            members,
            joined,
            left,
            ..
        } = event
        else {
            return false;
        };
        let giver = self.elders.front().copied();
        let refusals = &mut self.refusals;
        self.elders.retain(|elder| {
            let stays = members.contains(elder) && !left.contains(elder) && !joined.contains(elder);
            if !stays {
                refusals.push(format!("rank {elder} left or was lost"));
            }
            stays
        });
        self.elders.front().copied() != giver
    }

    /// Returns the note that asks the giver for the rest.
    fn again(&self) -> Note {
        let (id, least) = (self.id, self.least);
        match &self.coming {
            None => Note::Ask { id, least },
            Some(coming) => Note::Again {
                id,
                upto: coming.state.len() as u64,
            },
        }
    }

    /// Adds a part; returns false if it is not the next one.
    fn add(&mut self, (place, length, at): (u64, u64, u64), body: Message) -> bool {
        let coming = self.coming.get_or_insert_with(|| Coming {
            place,
            length,
            state: Message::new(),
            reported: 0,
        });
        let have = coming.state.len() as u64;
        let fits = have
            .checked_add(body.len() as u64)
            .is_some_and(|sum| sum <= length);
        let is_next = coming.place == place && coming.length == length && have == at && fits;
        let is_empty = body.is_empty() && length > 0;
        if is_next && !is_empty && place >= self.least {
            coming.state.append(body);
            return true;
        }
        false
    }

    fn tell_giver(&mut self, giver: Rank, out: &mut Outcome) {
        let id = self.id;
        if let Some(coming) = &mut self.coming {
            let came = coming.state.len();
            let upto = came as u64;
            let note = match coming.is_whole() {
                true => Note::Done { id },
                false if came - coming.reported >= TOOK_EVERY => Note::Took { id, upto },
                false => return,
            };
            coming.reported = came;
            out.sends.push((giver, note, Message::new()));
        }
    }
}

impl Giving {
    /// Returns whether its joiner wants a snapshot of a later place.
    fn waits_beyond(&self, place: u64) -> bool {
        matches!(self.stage, Stage::Waits { least } if least > place)
    }

    /// Sends as many parts as may be under way; at least one if the joiner `waits` for any.
    fn send(&mut self, to: Rank, waits: bool, out: &mut Outcome) {
        let id = self.id;
        let Stage::Sends {
            place,
            state,
            sent,
            taken,
        } = &mut self.stage
        else {
            return;
        };
        let mut is_owed = waits && state.is_empty();
        while is_owed || (*sent < state.len() && *sent - *taken < WINDOW) {
            is_owed = false;
            let end = state.len().min(*sent + PART);
            let part = Note::Part {
                id,
                place: *place,
                length: state.len() as u64,
                at: *sent as u64,
            };
            out.sends.push((to, part, state.slice(*sent..end).into()));
            *sent = end;
        }
    }
}
