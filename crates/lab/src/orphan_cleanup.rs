//! What killed runs left behind, which goes before anything else is measured: it would use the machine, or fill it.

use crate::build::Cache;
use crate::run::sweep_servers;
use antiphon_service::Place;

/// Ends servers under load whose laboratory is gone, and clears away the folders of databases, tools and generators that nobody owns any more. What a living
/// process uses stays. What cannot be cleared away now is left to the next time.
pub fn clear_leftovers(cache: &Cache) {
    sweep_servers(cache.folder());
    let _ = Place::sweep_of_user();
}
