//! The databases of a run: each is started when the first subject needs it, and serves all that do.

use crate::build::Built;
use crate::session::SessionError;
use crate::side_by_side::side_by_side;
use antiphon_service::{Kind, Place, Service, ServiceError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a database's server is started in a run. One that ends may have been ended by somebody; what ends each time is at fault itself.
const STARTS: u32 = 3;

/// A server that is ending closes its connections a moment before it has ended: so often, and so far apart, it is looked whether it has.
const LOOKS: u32 = 4;
const BETWEEN: Duration = Duration::from_millis(20);

/// What the data of services lies on, in words for the record of a run; `None` where the system does not tell.
pub(crate) fn on_file_system() -> Option<String> {
    let found = Place::of_user().ok()?.file_system()?;
    Some(format!("data on {}", found.name))
}

/// Databases, started when they are needed and ended when this is dropped.
#[derive(Default)]
pub struct Services {
    started: Mutex<HashMap<Kind, Started>>,
    /// What makes their costs doubtful.
    warnings: Mutex<Vec<String>>,
}

/// A database of a run.
#[derive(Default)]
struct Started {
    service: Option<Service>,
    starts: u32,
    /// Why there is none now. Each start may take a minute to fail, and each of many tests would have its own.
    failed: Option<Arc<ServiceError>>,
}

impl Started {
    /// Why it is not to be started (again).
    fn given_up(&self) -> Option<Arc<ServiceError>> {
        let why = self.failed.as_ref()?;
        (!why.may_pass() || self.starts >= STARTS).then(|| why.clone())
    }
}

/// They end side by side: each takes a second or more.
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
    /// The environment variables that tell a subject where its database is, with tables of its own; none if it needs none.
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

    /// The process of a database's server, if it was started and has one.
    pub fn process(&self, kind: Kind) -> Option<u32> {
        self.started().get(&kind)?.service.as_ref()?.process()
    }

    /// How a database's server ended, should it have done so while it was used, once: the next who needs it has another.
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

    /// What was found that makes costs doubtful, once.
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
