//! Protocols without a platform, in virtual time.

mod congestion;
mod full_history;
mod link_restart;
