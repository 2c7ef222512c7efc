//! A database from its start to its end.

use crate::address::{Access, Address};
use crate::folder::Folder;
use crate::server::{self, Server};
use crate::{Kind, Place, ServiceError};
use std::sync::atomic::{AtomicU32, Ordering};

/// A database that is there for us alone. Dropping it ends it and throws its data away.
pub struct Service {
    kind: Kind,
    /// Before the folder, so that it has ended when that is removed.
    server: Option<Server>,
    folder: Folder,
    programs: AtomicU32,
}

impl Service {
    /// Starts it and waits until it answers, after clearing away what killed processes left in the same place.
    ///
    /// # Errors
    /// See [`ServiceError`]; nothing then stays behind.
    pub fn start(kind: Kind, place: &Place) -> Result<Service, ServiceError> {
        place.sweep()?;
        kind.check()?;
        let folder = place.folder(kind.name())?;
        let server = match kind {
            Kind::Sqlite => None,
            Kind::Postgresql | Kind::Mariadb => Some(server::start(kind, folder.path())?),
        };
        Ok(Service {
            kind,
            server,
            folder,
            programs: AtomicU32::new(0),
        })
    }

    /// Which database it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// An address for one program; each has table names (or a file) that no other is given.
    pub fn address(&self) -> Address {
        let number = self.programs.fetch_add(1, Ordering::Relaxed);
        let table = format!("measured_{number}");
        let access = match &self.server {
            None => Access::File(self.folder.path().join(format!("{table}.sqlite"))),
            Some(server) => Access::Port {
                port: server.port,
                password: server.password.clone(),
            },
        };
        Address {
            kind: self.kind,
            access,
            table,
        }
    }

    /// How its server ended, should it have done so unasked. It then serves no more, and is to be dropped.
    pub fn lost(&mut self) -> Option<ServiceError> {
        self.server.as_mut()?.lost()
    }

    /// The server's process; `None` where there is none.
    pub fn process(&self) -> Option<u32> {
        self.server.as_ref().map(Server::process)
    }

    /// Ends it in good order. Dropping does the same, but keeps silent if it fails.
    ///
    /// # Errors
    /// It did not end of itself and was killed, or that failed.
    pub fn stop(mut self) -> Result<(), ServiceError> {
        match self.server.take() {
            None => Ok(()),
            Some(server) => server.stop(),
        }
    }
}
