//! The databases of a run: each is started when the first subject needs it, and serves all that do.

use crate::build::Built;
use crate::session::SessionError;
use crate::side_by_side::side_by_side;
use antiphon_service::{Kind, Place, Service, ServiceError};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// What the data of services lies on, in words for the record of a run; `None` where the system does not tell.
pub(crate) fn on_file_system() -> Option<String> {
    let found = Place::of_user().ok()?.file_system()?;
    Some(format!("data on {}", found.name))
}

/// Databases, started when they are needed and ended when this is dropped.
#[derive(Default)]
pub struct Services {
    started: Mutex<HashMap<Kind, Service>>,
    /// What makes their costs doubtful.
    warnings: Mutex<Vec<String>>,
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
            source: Box::new(source),
        })
    }

    /// The process of a database's server, if it was started and has one.
    pub fn process(&self, kind: Kind) -> Option<u32> {
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.get(&kind)?.process()
    }

    /// What was found that makes costs doubtful, once.
    pub(crate) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn warn(&self, text: &str) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.push(text.to_owned());
    }

    fn of(&self, kind: Kind) -> Result<Vec<(String, String)>, ServiceError> {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(service) = started.get(&kind) {
            return Ok(service.address().environment());
        }
        let place = Place::of_user()?;
        if started.is_empty()
            && let Some(found) = place.file_system().filter(|of| of.in_memory)
        {
            self.warn(&format!(
                "the databases' files are in memory ({}): a commit is on no disk, and the costs of writing are not those of one (set TMPDIR to a \
                 folder on a disk)",
                found.name
            ));
        }
        let service = Service::start(kind, &place)?;
        let environment = service.address().environment();
        started.insert(kind, service);
        Ok(environment)
    }
}
