//! Databases to measure: started in a separate folder under confirmed settings, and cleaned up
//! after, even when we are killed.
//!
//! A [`Service`] is a server for us alone, on a free port of the loopback interface and with
//! temporary data. For a database without a server it is the folder of its files. Its [`Address`]
//! is what a program needs to reach it:
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
//! Every service is equally durable: a commit is on the disk before its answer
//! ([`Kind::settings`]). A server that does not confirm a setting is an error, not a measurement.
//!
//! When we are killed, the keeper of `antiphon-runner` ends the server. The next start in the same
//! [`Place`] removes its folder and its remains elsewhere, as does an earlier [`Place::sweep`]. A
//! lock file shows that they have no owner.

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
