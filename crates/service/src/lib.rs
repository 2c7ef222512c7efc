//! Databases to measure: started in a folder of their own under settings that they confirm, and cleaned up after, even when we are killed.
//!
//! A [`Service`] is a server that was started for us alone, on a free port of the loopback interface and with data that is thrown away; or,
//! for a database without a server, the folder that its files go to. Its [`Address`] is what a program needs to reach it:
//!
//! ```no_run
//! use antiphon_service::{Kind, Place, Service};
//!
//! let service = Service::start(Kind::Postgresql, &Place::of_user()?)?;
//! for (name, value) in service.address().environment() {
//!     println!("{name}={value}"); // ANTIPHON_SQL_HOST=127.0.0.1, …
//! }
//! service.stop()?;
//! # Ok::<(), antiphon_service::ServiceError>(())
//! ```
//!
//! Every service keeps what it is told to keep in the same way: a commit is on the disk before it is answered ([`Kind::settings`]). A
//! server that does not confirm a setting is an error, not a measurement.
//!
//! When we are killed, the keeper of `antiphon-runner` ends the server; its folder, and what it holds outside of it, are cleared away by
//! the next start in the same [`Place`], which knows from a lock file that nobody owns them any more, or by who sweeps it before
//! ([`Place::sweep`]).

mod account;
mod address;
mod error;
mod file_system;
mod folder;
mod kind;
mod mariadb;
mod postgresql;
mod server;
mod service;

pub use address::Address;
pub use error::ServiceError;
pub use file_system::FileSystem;
pub use folder::{Folder, Place};
pub use kind::{Kind, Setting};
pub use service::Service;
