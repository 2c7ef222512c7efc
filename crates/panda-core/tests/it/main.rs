//! Tests of protocols without a platform, in virtual time: damaged frames, members that lie, and
//! networks that are narrow.

mod allocations;
mod congestion;
mod full_history;
mod garbage;
mod lies;
mod link_restart;
