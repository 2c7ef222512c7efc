//! Full names of things whose declarations were not given, such as `ada.text_io.put_line`.

use super::{At, Kind, Names, ScopeId};
use crate::source::Program;

impl Names {
    /// The full lower-case names that an unresolved name may stand for, most likely first.
    ///
    /// `TIO.Put` with `package TIO renames Ada.Text_IO` gives `ada.text_io.put`; a bare `Put` gives one name for each external
    /// package that a use clause shows there, and `put` itself last.
    pub fn external_names(&self, program: &Program, at: At) -> Vec<String> {
        let source = &program.sources[at.file];
        let scope = self.scope_around(program, at);
        let full = Names::key(&source.text(at.node).split_whitespace().collect::<String>());
        if let Some((prefix, last)) = full.rsplit_once('.') {
            let tree = &source.tree;
            let prefixes = match tree.role(at.node, "prefix") {
                Some(node) => self.external_package(program, At { node, ..at }, 0),
                None => vec![prefix.to_string()],
            };
            return prefixes
                .into_iter()
                .map(|p| format!("{p}.{last}"))
                .collect();
        }
        let mut found: Vec<String> = self
            .used_external(program, scope, at)
            .into_iter()
            .map(|p| format!("{p}.{full}"))
            .collect();
        found.push(full);
        found
    }

    /// The full name of an external package that a name means, through renamings and instances.
    fn external_package(&self, program: &Program, at: At, depth: usize) -> Vec<String> {
        let source = &program.sources[at.file];
        let tree = &source.tree;
        let text = Names::key(&source.text(at.node).split_whitespace().collect::<String>());
        if depth > 10 {
            return vec![text];
        }
        if let Some(id) = self.meaning(program, at) {
            let entity = self.entity(id);
            let role = match entity.kind {
                Kind::PackageRenaming => "package_name",
                Kind::PackageInstance => "generic_name",
                _ => return vec![text],
            };
            let other = &program.sources[entity.at.file].tree;
            let Some(mut name) = other.role(entity.at.node, role) else {
                return vec![text];
            };
            if other.kind(name) == "function_call" {
                name = other.role(name, "name").unwrap_or(name);
            }
            return self.external_package(
                program,
                At {
                    file: entity.at.file,
                    node: name,
                },
                depth + 1,
            );
        }
        if tree.kind(at.node) == "selected_component" {
            let (Some(prefix), Some((_, last))) =
                (tree.role(at.node, "prefix"), text.rsplit_once('.'))
            else {
                return vec![text];
            };
            return self
                .external_package(program, At { node: prefix, ..at }, depth + 1)
                .into_iter()
                .map(|p| format!("{p}.{last}"))
                .collect();
        }
        let scope = self.scope_around(program, at);
        let mut found = vec![text.clone()];
        if depth == 0 {
            found.extend(
                self.used_external(program, scope, at)
                    .into_iter()
                    .map(|p| format!("{p}.{text}")),
            );
        }
        found
    }

    /// External packages that use clauses show at a place.
    fn used_external(&self, program: &Program, scope: ScopeId, at: At) -> Vec<String> {
        let byte = program.sources[at.file].tree.start(at.node);
        let mut found = Vec::new();
        for region in self.around(scope) {
            for clause in &self.scope(region).uses {
                if clause.file == at.file && clause.from > byte {
                    continue;
                }
                let resolved = self.meaning(program, clause.package);
                let is_ours = resolved.is_some_and(|e| self.package_region(program, e).is_some());
                if !is_ours {
                    found.extend(self.external_package(program, clause.package, 1));
                }
            }
        }
        found
    }
}
