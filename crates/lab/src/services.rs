//! The databases of a run: each is started when the first subject needs it, and serves all that do.

use crate::build::Built;
use crate::session::SessionError;
use crate::side_by_side::side_by_side;
use antiphon_service::{Kind, Place, Service, ServiceError};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Starts of a database's server in a run. A single end may come from outside; an end each time is
/// its own fault.
const STARTS: u32 = 3;

/// Checks for a server's end, and the pause between them. Its connections close a moment before it
/// has ended.
const LOOKS: u32 = 4;
const BETWEEN: Duration = Duration::from_millis(20);

/// Describes the storage of services for the record of a run; `None` if the system does not tell.
pub(crate) fn on_file_system() -> Option<String> {
    let found = Place::of_user().ok()?.file_system()?;
    Some(format!("data on {}", found.name))
}

/// Databases, started when they are needed and ended when this is dropped.
#[derive(Default)]
pub struct Services {
    started: Mutex<HashMap<Kind, Started>>,
    /// Doubts about their costs.
    warnings: Mutex<Vec<String>>,
}

/// A database of a run.
#[derive(Default)]
struct Started {
    service: Option<Service>,
    starts: u32,
    /// Reason for the present absence. It is kept, because each start may take a minute to fail and
    /// many tests would try.
    failed: Option<Arc<ServiceError>>,
}

impl Started {
    /// Returns the reason against another start, if there is one.
    fn given_up(&self) -> Option<Arc<ServiceError>> {
        let why = self.failed.as_ref()?;
        (!why.may_pass() || self.starts >= STARTS).then(|| why.clone())
    }
}

/// Ends all services side by side, because each takes a second or more.
impl Drop for Services {
    fn drop(&mut self) {
        let started = self
            .started
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        side_by_side(started.drain(), drop);
    }
}

impl Services {
    /// Returns the environment variables that lead a subject to its database, with tables of its
    /// own; none if it needs none.
    ///
    /// # Errors
    /// [`SessionError::NoService`].
    pub fn environment(&self, built: &Built) -> Result<Vec<(String, String)>, SessionError> {
        let Some(kind) = built.service else {
            return Ok(Vec::new());
        };
        let environment = self.of(kind);
        environment.map_err(|source| SessionError::NoService {
            subject: built.record.id.clone(),
            source,
        })
    }

    /// Returns the process of a database's server, if it was started and has one.
    pub fn process(&self, kind: Kind) -> Option<u32> {
        self.started().get(&kind)?.service.as_ref()?.process()
    }

    /// Runs statements as a started database's administrator ([`Service::administer`]); `None` if
    /// it was not started.
    pub fn administer(&self, kind: Kind, statements: &str) -> Option<Result<String, ServiceError>> {
        let started = self.started();
        let service = started.get(&kind)?.service.as_ref()?;
        Some(service.administer(statements))
    }

    /// Returns the log of a database's server, if it was started and has one.
    pub fn log(&self, kind: Kind) -> Option<PathBuf> {
        let started = self.started();
        Some(started.get(&kind)?.service.as_ref()?.log()?.to_owned())
    }

    /// Returns the error of a database's server that ended during use, once. The next subject that
    /// needs it gets a new one.
    pub(crate) fn lost(&self, kind: Kind) -> Option<Arc<ServiceError>> {
        let mut started = self.started();
        let of_kind = started.get_mut(&kind)?;
        let service = of_kind.service.as_mut()?;
        let why = (0..LOOKS).find_map(|look| {
            if look > 0 {
                std::thread::sleep(BETWEEN);
            }
            service.lost()
        })?;
        self.warn(&format!(
            "{}; what was asked of it then has no figure, and who else needs it has another",
            why.reason()
        ));
        let why = Arc::new(why);
        of_kind.service = None;
        of_kind.failed = Some(why.clone());
        Some(why)
    }

    fn started(&self) -> MutexGuard<'_, HashMap<Kind, Started>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the doubts about costs, which are returned once.
    pub(crate) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn warn(&self, text: &str) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.push(text.to_owned());
    }

    fn of(&self, kind: Kind) -> Result<Vec<(String, String)>, Arc<ServiceError>> {
        let mut started = self.started();
        let is_first = started.is_empty();
        let of_kind = started.entry(kind).or_default();
        if let Some(service) = &of_kind.service {
            return Ok(service.address().environment());
        }
        if let Some(why) = of_kind.given_up() {
            return Err(why);
        }
        of_kind.starts += 1;
        let service = self.start(kind, is_first).map_err(|why| {
            let why = Arc::new(why);
            of_kind.failed = Some(why.clone());
            why
        })?;
        let environment = service.address().environment();
        of_kind.service = Some(service);
        Ok(environment)
    }

    fn start(&self, kind: Kind, is_first: bool) -> Result<Service, ServiceError> {
        let place = Place::of_user()?;
        if is_first && let Some(found) = place.file_system().filter(|of| of.in_memory) {
            self.warn(&format!(
                "the databases' files are in memory ({}): a commit is on no disk, and the costs of writing are not those of one (set TMPDIR to a \
                 folder on a disk)",
                found.name
            ));
        }
        Service::start(kind, &place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended() -> ServiceError {
        ServiceError::Ended {
            title: "PostgreSQL",
            last_words: "no room".to_owned(),
        }
    }

    #[test]
    fn what_may_have_passed_is_tried_again_and_nothing_else_is() {
        let of = |failed, starts| Started {
            service: None,
            starts,
            failed: Some(Arc::new(failed)),
        };
        assert!(Started::default().given_up().is_none());
        assert!(of(ended(), STARTS - 1).given_up().is_none());
        assert!(of(ended(), STARTS).given_up().is_some());
        // It would take its whole minute again.
        let silent = ServiceError::Silent {
            title: "PostgreSQL",
            seconds: 60,
            why: "no connection".to_owned(),
            last_words: String::new(),
        };
        assert!(of(silent, 1).given_up().is_some());
    }
}
