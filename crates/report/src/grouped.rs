//! Things with the same key together.

use std::collections::HashMap;
use std::hash::Hash;

/// Groups values by key, in the order of each key's first appearance.
pub fn grouped<K: Clone + Eq + Hash, T>(
    keyed: impl IntoIterator<Item = (K, T)>,
) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for (key, one) in keyed {
        let place = *places.entry(key.clone()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, group)) => group.push(one),
            None => groups.push((key, vec![one])),
        }
    }
    groups
}
