//! The private entries in which callers of outer accepts wait for inner ones.

use super::Writer;
use super::entries::choice;
use crate::flow::Point;
use crate::syntax::NodeId;
use crate::translate::code::{Code, grouped};

impl Writer<'_> {
    /// Returns the accepts of an entry with waits inside, and their private entry.
    fn finishing(&self, entry: usize) -> Option<(Vec<NodeId>, &str)> {
        let nested = &self.server.nested.finishing;
        let sites = self.sites(entry).into_iter();
        let own: Vec<(NodeId, &str)> = sites
            .filter_map(|s| Some((s.accept, nested.get(&s.accept)?.as_str())))
            .collect();
        let name = own.first()?.1;
        Some((own.into_iter().map(|(a, _)| a).collect(), name))
    }

    pub(super) fn finishing_declarations(&self) -> Vec<String> {
        let entries = 0..self.cx().task.entries.len();
        entries
            .filter_map(|e| {
                let (_, name) = self.finishing(e)?;
                Some(format!(
                    "{};",
                    self.with_profile(&format!("entry {name}"), e)
                ))
            })
            .flat_map(|d| d.split('\n').map(String::from).collect::<Vec<_>>())
            .collect()
    }

    pub(super) fn finishing_body(&mut self, entry: usize) -> Option<Vec<String>> {
        let (accepts, name) = self.finishing(entry)?;
        let name = name.to_string();
        let flow = self.cx().flow;
        let resumed: Vec<(Point, String)> =
            self.server.stages.resumed.clone().into_iter().collect();
        let mut arms: Vec<(String, Vec<Code>)> = Vec::new();
        let mut barrier = Vec::new();
        for (point, literal) in resumed {
            if !flow.owner_at(point).is_some_and(|a| accepts.contains(&a)) {
                continue;
            }
            let test = format!("{} = {literal}", self.server.stages.component);
            arms.push((test.clone(), self.machine.code_from(point, None)));
            barrier.push(grouped(&test));
        }
        if barrier.is_empty() {
            barrier.push("False".into());
        }
        let body = match arms.len() {
            0 => vec![],
            1 => arms.remove(0).1,
            _ => vec![choice(arms)],
        };
        let head = self.with_profile(&format!("entry {name}"), entry);
        let header = self.with_barrier(&head, &barrier);
        let declarations = self.unreferenced(entry, &body);
        Some(self.subprogram(&header, &name, &declarations, &body))
    }
}
