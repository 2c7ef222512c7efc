//! A database from its start to its end.

use crate::address::{Access, Address};
use crate::folder::Folder;
use crate::server::{self, Server};
use crate::{Kind, Place, ServiceError};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// A database for us alone. Dropping it ends it and deletes its data.
pub struct Service {
    kind: Kind,
    /// Declared before the folder, so that it has ended when the folder is removed.
    server: Option<Server>,
    folder: Folder,
    programs: AtomicU32,
}

impl Service {
    /// Starts it and waits until it answers. Remains of killed processes in the same place are
    /// removed first.
    ///
    /// # Errors
    /// See [`ServiceError`]. Nothing then stays behind.
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

    /// Returns the kind of the database.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns an address for one program; its table names (or file) are unique.
    pub fn address(&self) -> Address {
        let number = self.programs.fetch_add(1, Ordering::Relaxed);
        let table = format!("measured_{number}");
        let access = match &self.server {
            None => Access::File(self.folder.path().join(format!("{table}.sqlite"))),
            Some(server) => Access::Port {
                port: server.port(),
                password: server.password().to_owned(),
            },
        };
        Address {
            kind: self.kind,
            access,
            table,
        }
    }

    /// Returns the error of a server that has ended by itself. The service is then useless and must
    /// be dropped.
    pub fn lost(&mut self) -> Option<ServiceError> {
        self.server.as_mut()?.lost()
    }

    /// Returns the server's process; `None` without one.
    pub fn process(&self) -> Option<u32> {
        self.server.as_ref().map(Server::process)
    }

    /// Runs statements over the server's socket, and returns the output of the database's client.
    ///
    /// The socket is in a folder that only the server's account may enter. PostgreSQL runs them as
    /// its superuser, which programs are not. MariaDB has no superuser. Without a server nothing
    /// runs, and the answer is empty.
    ///
    /// # Errors
    /// The client cannot be started, or the server refuses a statement.
    pub fn administer(&self, statements: &str) -> Result<String, ServiceError> {
        match &self.server {
            Some(server) => server.administer(statements),
            None => Ok(String::new()),
        }
    }

    /// Returns the server's log, which grows; `None` without a server.
    pub fn log(&self) -> Option<&Path> {
        self.server.as_ref().map(Server::log)
    }

    /// Shuts it down in an orderly way. Dropping does the same, but ignores errors.
    ///
    /// # Errors
    /// It did not end by itself and was killed, or that failed.
    pub fn stop(mut self) -> Result<(), ServiceError> {
        match self.server.take() {
            None => Ok(()),
            Some(server) => server.stop(),
        }
    }
}
