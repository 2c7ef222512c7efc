//! Clean-up of killed runs. It precedes every measurement, because remains would use the machine or
//! fill it.

use crate::build::Cache;
use crate::run::sweep_servers;
use antiphon_service::Place;

/// Ends servers under load whose laboratory is gone, and removes unowned folders of databases,
/// tools and generators.
///
/// Files of living processes stay. A failed removal is left to the next run.
pub fn clear_leftovers(cache: &Cache) {
    sweep_servers(cache.folder());
    let _ = Place::sweep_of_user();
}
