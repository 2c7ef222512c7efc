//! The databases of a run: each is started when the first subject needs it, and serves all that do.

use crate::build::Built;
use crate::session::SessionError;
use antiphon_service::{Kind, Place, Service, ServiceError};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Databases, started when they are needed and ended when this is dropped.
#[derive(Default)]
pub struct Services {
    started: Mutex<HashMap<Kind, Service>>,
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

    fn of(&self, kind: Kind) -> Result<Vec<(String, String)>, ServiceError> {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(service) = started.get(&kind) {
            return Ok(service.address().environment());
        }
        let service = Service::start(kind, &Place::of_user()?)?;
        let environment = service.address().environment();
        started.insert(kind, service);
        Ok(environment)
    }
}
