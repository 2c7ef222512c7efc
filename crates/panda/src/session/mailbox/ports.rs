//! The unread messages of all ports, and the memory that each sender's messages take.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::unread::{Numbered, Unread};
use super::{Barred, News, PortUpcall};
use crate::platform::Rank;
use crate::session::Arrived;
use crate::session::upcall::Registered;

/// Bytes that a port with unread messages takes besides them: its place in the table, and the room
/// for four messages that comes with the first.
const PORT_ROOM: usize = 2 * size_of::<(u64, PortState)>() + 4 * size_of::<Numbered>();

/// A sender that exceeded the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flood {
    pub from: Rank,
    /// Its unread bytes at all ports.
    pub bytes: usize,
    /// The port with most of those bytes.
    pub port: u64,
    /// Bound on the unread bytes of all senders together.
    pub most: usize,
}

/// A port.
#[derive(Default)]
pub struct PortState {
    pub messages: Unread,
    /// Bytes that the messages take.
    pub unread: usize,
    /// Senders that were told to stop.
    pub held: Vec<Rank>,
    pub upcall: Option<Arc<Registered<PortUpcall>>>,
}

/// All ports of a process.
#[derive(Default)]
pub struct Ports {
    pub by_number: FxHashMap<u64, PortState>,
    /// Unread bytes of other processes at all ports. If it is 0 no message is unread, since a port
    /// with any counts too.
    pub unread: usize,
    /// Number of messages kept so far, which is the last one's number.
    kept: u64,
}

/// Returns the bytes of a message that count against the bound. A process's own messages count
/// nothing.
fn room(arrived: &Arrived, own: Rank) -> usize {
    match arrived.from == own {
        true => 0,
        false => arrived.room(),
    }
}

impl Ports {
    /// Keeps a message, and returns the unread bytes of its port.
    pub fn keep(&mut self, port: u64, arrived: Arrived, own: Rank) -> usize {
        self.kept += 1;
        let state = self.by_number.entry(port).or_default();
        if state.messages.is_empty() {
            self.unread += PORT_ROOM;
        }
        self.unread += room(&arrived, own);
        state.unread += arrived.room();
        state.messages.push(self.kept, arrived);
        state.unread
    }

    /// Returns the unread messages of a port that has, or had, some.
    pub fn unread(&mut self, port: u64) -> Option<&mut Unread> {
        Some(&mut self.by_number.get_mut(&port)?.messages)
    }

    /// Takes a message that `take` chooses.
    pub fn take(
        &mut self,
        port: u64,
        own: Rank,
        take: impl FnOnce(&mut Unread) -> Option<Arrived>,
    ) -> Option<Arrived> {
        let state = self.by_number.get_mut(&port)?;
        let arrived = take(&mut state.messages)?;
        state.unread -= arrived.room();
        self.unread -= room(&arrived, own);
        if state.messages.is_empty() {
            self.unread -= PORT_ROOM;
        }
        Some(arrived)
    }

    /// Takes all unread messages of a port.
    pub fn empty(&mut self, port: u64, own: Rank) -> Unread {
        let state = self.by_number.entry(port).or_default();
        let all = std::mem::take(&mut state.messages);
        state.unread = 0;
        if !all.is_empty() {
            let rooms = all.iter().map(|arrived| room(arrived, own));
            self.unread -= PORT_ROOM + rooms.sum::<usize>();
        }
        all
    }

    /// Returns the sender with most unread bytes; barred senders come first.
    fn foremost(&self, own: Rank, most: usize, barred: &Barred) -> Option<Flood> {
        let mut by_sender: FxHashMap<Rank, FxHashMap<u64, usize>> = FxHashMap::default();
        for (port, state) in &self.by_number {
            for arrived in state.messages.iter().filter(|arrived| arrived.from != own) {
                let of_port = by_sender.entry(arrived.from).or_default();
                *of_port.entry(*port).or_default() += arrived.room();
            }
        }
        let floods = by_sender.into_iter().filter_map(|(from, of_ports)| {
            let bytes = of_ports.values().sum();
            let (port, _) = of_ports.into_iter().max_by_key(|(_, bytes)| *bytes)?;
            Some(Flood {
                from,
                bytes,
                port,
                most,
            })
        });
        floods.max_by_key(|flood| (barred.contains_key(&flood.from), flood.bytes))
    }

    /// Forgets a sender's unread messages, and ports that are empty then.
    fn forget(&mut self, from: Rank, own: Rank) -> Vec<Arrived> {
        let (mut gone, mut left) = (Vec::new(), 0);
        self.by_number.retain(|_, state| {
            let its = state.messages.remove_from(from);
            state.unread -= its.iter().map(Arrived::room).sum::<usize>();
            gone.extend(its);
            if !state.messages.is_empty() {
                let rooms = state.messages.iter().map(|arrived| room(arrived, own));
                left += PORT_ROOM + rooms.sum::<usize>();
            }
            !state.messages.is_empty() || !state.held.is_empty() || state.upcall.is_some()
        });
        self.unread = left;
        gone
    }

    /// Bars and returns the sender with most unread bytes, if all together exceed the bound. The
    /// messages of barred senders make room first.
    pub fn bar(
        &mut self,
        own: Rank,
        most: usize,
        barred: &mut Barred,
    ) -> (Option<Flood>, Vec<Arrived>) {
        let mut gone = Vec::new();
        while self.unread > most
            && let Some(flood) = self.foremost(own, most, barred)
        {
            if let Entry::Vacant(entry) = barred.entry(flood.from) {
                entry.insert(News::Early);
                return (Some(flood), gone);
            }
            gone.extend(self.forget(flood.from, own));
        }
        (None, gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Rank = 0;

    fn letter(from: Rank, length: usize) -> Arrived {
        Arrived {
            from,
            tag: 0,
            payload: vec![0; length].into(),
        }
    }

    fn lies(ports: &Ports) -> usize {
        let rooms = |state: &PortState| -> usize {
            let rooms = state.messages.iter().map(|arrived| room(arrived, OWN));
            rooms.sum()
        };
        let used = (ports.by_number.values()).filter(|state| !state.messages.is_empty());
        used.map(|state| rooms(state) + PORT_ROOM).sum()
    }

    #[test]
    fn what_lies_unread_is_known_whoever_takes_it() {
        let mut ports = Ports::default();
        for number in 0..40 {
            ports.keep(number % 3, letter(number as Rank % 4, 100), OWN);
            assert_eq!(ports.unread, lies(&ports));
        }
        while ports
            .take(1, OWN, |unread| unread.take(Some(2), None))
            .is_some()
        {
            assert_eq!(ports.unread, lies(&ports));
        }
        ports.forget(3, OWN);
        assert_eq!(ports.unread, lies(&ports));
        ports.empty(0, OWN);
        ports.empty(2, OWN);
        while ports
            .take(1, OWN, |unread| unread.take(None, None))
            .is_some()
        {}
        assert_eq!((ports.unread, lies(&ports)), (0, 0));
    }

    #[test]
    fn who_leaves_most_unread_is_barred_and_then_makes_room() {
        let (mut ports, mut barred) = (Ports::default(), Barred::default());
        let most = 100_000;
        // This process's own messages do not count.
        ports.keep(7, letter(OWN, 2 * most), OWN);
        ports.keep(7, letter(1, 30_000), OWN);
        ports.keep(8, letter(2, 20_000), OWN);
        assert_eq!(ports.bar(OWN, most, &mut barred).0, None);
        ports.keep(9, letter(2, 60_000), OWN);
        let flood = ports.bar(OWN, most, &mut barred).0.expect("it is too much");
        assert_eq!((flood.from, flood.port, flood.most), (2, 9, most));
        assert!((80_000..90_000).contains(&flood.bytes), "{flood:?}");
        // Its earlier messages stay until others need the room.
        assert!(ports.by_number.contains_key(&9));
        ports.keep(7, letter(1, 10_000), OWN);
        let (flood, gone) = ports.bar(OWN, most, &mut barred);
        assert_eq!(flood, None);
        assert_eq!(gone.len(), 2);
        assert!(!ports.by_number.contains_key(&9));
        assert_eq!(ports.unread, lies(&ports));
    }

    /// Checks that ports count as memory: the sender chooses their names.
    #[test]
    fn messages_without_payload_to_ever_new_ports_are_counted() {
        let (mut ports, mut barred) = (Ports::default(), Barred::default());
        let most = 1 << 20;
        let mut ports_named = 0;
        while ports.bar(OWN, most, &mut barred).0.is_none() {
            ports.keep(ports_named, letter(1, 0), OWN);
            ports_named += 1;
        }
        let of_messages = |state: &PortState| state.messages.capacity() * size_of::<Numbered>();
        let taken: usize = ports.by_number.values().map(of_messages).sum();
        let taken = taken + ports.by_number.capacity() * size_of::<(u64, PortState)>();
        assert!(taken < 2 * most, "{taken} bytes for {ports_named} ports");
    }
}
