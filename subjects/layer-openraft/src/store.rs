//! Raft's log and the number that it replicates, in memory.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::Cursor;
use std::ops::RangeBounds;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use openraft::storage::{LogFlushed, RaftLogStorage, RaftStateMachine};
use openraft::{
    BasicNode, Entry, EntryPayload, LogId, LogState, OptionalSend, RaftLogReader,
    RaftSnapshotBuilder, RaftTypeConfig, Snapshot, SnapshotMeta, StorageError, StorageIOError,
    StoredMembership, Vote,
};

openraft::declare_raft_types!(
    /// A log of increments. The answer to each is the new value.
    pub Types:
        D = u64,
        R = u64,
);

type NodeId = <Types as RaftTypeConfig>::NodeId;
type Failure = StorageError<NodeId>;
type Members = StoredMembership<NodeId, BasicNode>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct Entries {
    vote: Option<Vote<NodeId>>,
    purged: Option<LogId<NodeId>>,
    entries: BTreeMap<u64, Entry<Types>>,
}

/// The log.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Entries>>);

impl RaftLogReader<Types> for Log {
    async fn try_get_log_entries<R: RangeBounds<u64> + Clone + Debug + OptionalSend>(
        &mut self,
        range: R,
    ) -> Result<Vec<Entry<Types>>, Failure> {
        let log = lock(&self.0);
        Ok(log.entries.range(range).map(|it| it.1.clone()).collect())
    }
}

impl RaftLogStorage<Types> for Log {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> Result<LogState<Types>, Failure> {
        let log = lock(&self.0);
        let last = log.entries.values().next_back().map(|entry| entry.log_id);
        Ok(LogState {
            last_purged_log_id: log.purged,
            last_log_id: last.or(log.purged),
        })
    }

    async fn get_log_reader(&mut self) -> Self {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote<NodeId>) -> Result<(), Failure> {
        lock(&self.0).vote = Some(*vote);
        Ok(())
    }

    async fn read_vote(&mut self) -> Result<Option<Vote<NodeId>>, Failure> {
        Ok(lock(&self.0).vote)
    }

    async fn append<I>(&mut self, entries: I, flushed: LogFlushed<Types>) -> Result<(), Failure>
    where
        I: IntoIterator<Item = Entry<Types>> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let entries = entries.into_iter().map(|it| (it.log_id.index, it));
        lock(&self.0).entries.extend(entries);
        flushed.log_io_completed(Ok(()));
        Ok(())
    }

    async fn truncate(&mut self, from: LogId<NodeId>) -> Result<(), Failure> {
        lock(&self.0).entries.split_off(&from.index);
        Ok(())
    }

    async fn purge(&mut self, to: LogId<NodeId>) -> Result<(), Failure> {
        let mut log = lock(&self.0);
        log.purged = Some(to);
        log.entries = log.entries.split_off(&(to.index + 1));
        Ok(())
    }
}

#[derive(Clone, Default)]
struct State {
    value: u64,
    applied: Option<LogId<NodeId>>,
    members: Members,
}

/// A member's replica of the number.
#[derive(Clone, Default)]
pub struct Replica(Arc<(Mutex<State>, Condvar)>);

impl Replica {
    /// Waits until the value here is at least this, and returns it.
    pub fn await_at_least(&self, least: u64) -> u64 {
        let state = lock(&self.0.0);
        let is_less = |state: &mut State| state.value < least;
        let waited = self.0.1.wait_while(state, is_less);
        waited.unwrap_or_else(PoisonError::into_inner).value
    }

    fn snapshot(&self) -> Snapshot<Types> {
        let state = lock(&self.0.0).clone();
        let index = state.applied.map_or(0, |applied| applied.index);
        Snapshot {
            meta: SnapshotMeta {
                last_log_id: state.applied,
                last_membership: state.members,
                snapshot_id: index.to_string(),
            },
            snapshot: Box::new(Cursor::new(state.value.to_le_bytes().to_vec())),
        }
    }
}

impl RaftSnapshotBuilder<Types> for Replica {
    async fn build_snapshot(&mut self) -> Result<Snapshot<Types>, Failure> {
        Ok(self.snapshot())
    }
}

impl RaftStateMachine<Types> for Replica {
    type SnapshotBuilder = Self;

    async fn applied_state(&mut self) -> Result<(Option<LogId<NodeId>>, Members), Failure> {
        let state = lock(&self.0.0);
        Ok((state.applied, state.members.clone()))
    }

    async fn apply<I>(&mut self, entries: I) -> Result<Vec<u64>, Failure>
    where
        I: IntoIterator<Item = Entry<Types>> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let mut state = lock(&self.0.0);
        let mut answers = Vec::new();
        for entry in entries {
            state.applied = Some(entry.log_id);
            match entry.payload {
                EntryPayload::Blank => {}
                EntryPayload::Normal(amount) => state.value += amount,
                EntryPayload::Membership(members) => {
                    state.members = StoredMembership::new(Some(entry.log_id), members);
                }
            }
            answers.push(state.value);
        }
        drop(state);
        self.0.1.notify_all();
        Ok(answers)
    }

    async fn get_snapshot_builder(&mut self) -> Self {
        self.clone()
    }

    async fn begin_receiving_snapshot(&mut self) -> Result<Box<Cursor<Vec<u8>>>, Failure> {
        Ok(Box::default())
    }

    async fn install_snapshot(
        &mut self,
        meta: &SnapshotMeta<NodeId, BasicNode>,
        snapshot: Box<Cursor<Vec<u8>>>,
    ) -> Result<(), Failure> {
        let bytes = snapshot.into_inner().try_into();
        let value = bytes.map(u64::from_le_bytes).map_err(|bytes: Vec<u8>| {
            let why = std::io::Error::other(format!("a number of {} bytes", bytes.len()));
            StorageIOError::read_snapshot(Some(meta.signature()), &why)
        })?;
        *lock(&self.0.0) = State {
            value,
            applied: meta.last_log_id,
            members: meta.last_membership.clone(),
        };
        self.0.1.notify_all();
        Ok(())
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<Snapshot<Types>>, Failure> {
        let snapshot = self.snapshot();
        Ok(snapshot.meta.last_log_id.is_some().then_some(snapshot))
    }
}
