//! Joining a session.

use std::fs::File;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::time::{Duration, Instant};

use super::Shm;
use super::crowd::own_processors;
use super::inbox::ShmInbox;
use super::memory::{COMMON, FILE, Header, MAGIC, Map, NAME, RANKS, state};
use super::shared::Shared;
use super::single_copy;
use super::watch::{Watch, started_at};
use crate::platform::bootstrap::FOUNDERS_WAIT;
use crate::platform::{JoinError, LaunchInfo, Platform, Rank, Secret, futex, linger};

/// How long a joining process waits for its peers.
const PATIENCE: Duration = FOUNDERS_WAIT;

pub fn join(info: &LaunchInfo) -> Result<(Arc<Shared>, ShmInbox), JoinError> {
    let shared = Arc::new(open(info)?);
    take(&shared, &info.name)?;
    // A process that is started by hand may join before all founders have.
    wait_for_peers(&shared)?;
    let ended = {
        let shared = Arc::clone(&shared);
        move |rank| note_end(&shared, rank)
    };
    let wake = {
        let shared = Arc::clone(&shared);
        move || shared.ring(shared.rank)
    };
    let watch = Watch::new(ended, wake).map_err(|source| JoinError::NoThread {
        platform: Shm::NAME,
        source,
    })?;
    let inbox = ShmInbox::new(Arc::clone(&shared), watch);
    Ok((shared, inbox))
}

/// Reserves ranks for processes that will be started.
pub fn allot(shared: &Shared, count: u32) -> Result<Vec<LaunchInfo>, JoinError> {
    let first = reserve(shared, count)?;
    let launch_info = |rank| LaunchInfo {
        platform: Shm::NAME.into(),
        rank,
        size: shared.size,
        name: format!("rank {rank}"),
        bootstrap: shared.bootstrap.clone(),
        address: None,
        silence: None,
        parent: None,
        starter: None,
        secret: shared.secret,
    };
    Ok((first..first + count).map(launch_info).collect())
}

/// Reserves a rank for this process, which is not in the session yet.
pub fn allot_one(info: &LaunchInfo) -> Result<Rank, JoinError> {
    reserve(&open(info)?, 1)
}

/// Reserves `count` free ranks that follow each other, and returns the first.
fn reserve(shared: &Shared, count: u32) -> Result<Rank, JoinError> {
    let given = shared
        .header()
        .next_rank
        .fetch_update(SeqCst, SeqCst, |next| {
            next.checked_add(count).filter(|&end| end <= RANKS)
        });
    given.map_err(|taken| {
        JoinError::refused::<Shm>(format!(
            "{taken} of {RANKS} places have been given, so {count} more processes cannot join: begin a new session, or use tcp"
        ))
    })
}

/// Records that a peer's process has ended.
pub fn note_end(shared: &Shared, rank: Rank) {
    let state = &shared.slot(rank).state;
    let _ = state.compare_exchange(state::JOINED, state::DEAD, SeqCst, Relaxed);
    shared.announce();
}

fn open(info: &LaunchInfo) -> Result<Shared, JoinError> {
    let what = format!("open the session's memory {}", info.bootstrap);
    let file = File::options()
        .read(true)
        .write(true)
        .open(&info.bootstrap)
        .map_err(|e| JoinError::system::<Shm>(what.as_str(), e))?;
    let length = file
        .metadata()
        .map_err(|e| JoinError::system::<Shm>(what.as_str(), e))?
        .len();
    if length != FILE {
        return Err(JoinError::refused::<Shm>(format!(
            "{} is {length} bytes long, not {FILE}: it is no session of this version of Antiphon",
            info.bootstrap
        )));
    }
    let common = Map::new(file.as_fd(), 0, COMMON)
        .map_err(|e| JoinError::system::<Shm>("map the session's memory", e))?;
    check(common.view(0), info)?;
    Ok(Shared::new(file, common, info))
}

fn check(header: &Header, info: &LaunchInfo) -> Result<(), JoinError> {
    if header.magic.load(Acquire) != MAGIC {
        return Err(JoinError::refused::<Shm>(format!(
            "{} is no session of this version of Antiphon",
            info.bootstrap
        )));
    }
    let mut secret = [0; 16];
    for (half, word) in secret.chunks_exact_mut(8).zip(&header.secret) {
        half.copy_from_slice(&word.load(Relaxed).to_le_bytes());
    }
    if !info.secret.is_same(Secret(secret)) {
        return Err(JoinError::refused::<Shm>(
            "the session at this place has another secret",
        ));
    }
    let size = header.size.load(Relaxed);
    if info.size != size || info.rank >= header.next_rank.load(Relaxed).min(RANKS) {
        return Err(JoinError::refused::<Shm>(format!(
            "rank {} of {} has no place in a session that began with {size} processes",
            info.rank, info.size
        )));
    }
    Ok(())
}

fn take(shared: &Shared, name: &str) -> Result<(), JoinError> {
    let slot = shared.slot(shared.rank);
    let taken = slot
        .state
        .compare_exchange(state::FREE, state::TAKEN, SeqCst, Relaxed);
    if taken.is_err() {
        return Err(JoinError::refused::<Shm>(format!(
            "rank {} has been in this session already: a process that comes later gets a new rank by spawning it",
            shared.rank
        )));
    }
    let pid = std::process::id();
    slot.pid.store(pid, Relaxed);
    slot.started.store(started_at(pid).unwrap_or(0), Relaxed);
    single_copy::permit();
    let mark_at = shared.mark.as_ptr() as u64;
    slot.mark_at.store(mark_at, Relaxed);
    let mut end = name.len().min(NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let mut bytes = [0; NAME];
    bytes[..end].copy_from_slice(&name.as_bytes()[..end]);
    for (word, part) in slot.name.iter().zip(bytes.chunks_exact(8)) {
        word.store(
            u64::from_ne_bytes(part.try_into().expect("8 bytes")),
            Relaxed,
        );
    }
    slot.name_bytes.store(end as u32, Relaxed);
    for (word, processors) in slot.processors.iter().zip(own_processors()) {
        word.store(processors, Relaxed);
    }
    slot.state.store(state::JOINED, SeqCst);
    // Founders wait only for the last of them. Waking all of them for each would be a wake-up for
    // each pair.
    if shared.rank >= shared.size || missing(shared).next().is_none() {
        shared.announce();
    }
    Ok(())
}

/// Returns the founders that have not joined.
fn missing(shared: &Shared) -> impl Iterator<Item = Rank> {
    (0..shared.size).filter(|&rank| shared.slot(rank).state.load(SeqCst) < state::JOINED)
}

fn wait_for_peers(shared: &Shared) -> Result<(), JoinError> {
    let until = Instant::now() + PATIENCE;
    let changes = &shared.header().changes;
    loop {
        let seen = changes.load(SeqCst);
        let missing: Vec<Rank> = missing(shared).collect();
        let has_ended = |&rank: &Rank| shared.slot(rank).state.load(SeqCst) == state::NEVER_CAME;
        let ended: Vec<Rank> = (0..shared.size).filter(has_ended).collect();
        if !ended.is_empty() {
            shared.leave(linger::PATIENCE);
            let names = ended.iter().map(|rank| format!("rank {rank}"));
            return Err(JoinError::never_came::<Shm>(names));
        }
        if missing.is_empty() {
            return Ok(());
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            // After this no process waits for us in vain.
            shared.leave(linger::PATIENCE);
            let names = missing.iter().map(|rank| format!("rank {rank}"));
            return Err(JoinError::missing::<Shm>(PATIENCE, names));
        }
        futex::wait(changes, seen, Some(left));
    }
}
