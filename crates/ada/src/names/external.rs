//! Full names of things whose declarations were not given, such as `ada.text_io.put_line`.

use super::{At, Kind, Names, ScopeId};
use crate::source::Program;

/// Packages that declare nothing but their children.
const ONLY_CHILDREN: [&str; 2] = ["ada", "gnat"];

/// Whether a with clause makes a library unit of this simple name visible.
fn is_withed(program: &Program, word: &str) -> bool {
    program.sources.iter().any(|source| {
        let tree = &source.tree;
        tree.all(tree.root(), "compilation_unit")
            .flat_map(|unit| tree.all(unit, "with_clause"))
            .flat_map(|clause| tree.children(clause))
            .any(|n| {
                let name = source.text(n);
                Names::key(name.split('.').next().unwrap_or(name).trim()) == word
            })
    })
}

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
            .filter(|p| !ONLY_CHILDREN.contains(&p.as_str()))
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
                .external_package(program, At { node: prefix, ..at }, depth)
                .into_iter()
                .map(|p| format!("{p}.{last}"))
                .collect();
        }
        let scope = self.scope_around(program, at);
        if depth > 0 || is_withed(program, &text) {
            return vec![text];
        }
        // No library unit of this name is visible: a use clause for its parent shows it.
        let mut found: Vec<String> = self
            .used_external(program, scope, at)
            .into_iter()
            .map(|p| format!("{p}.{text}"))
            .collect();
        if found.is_empty() {
            found.push(text);
        }
        found
    }

    /// The full lower-case names of the external packages that use clauses show at a place.
    pub fn used_packages(&self, program: &Program, at: At) -> Vec<String> {
        self.used_external(program, self.scope_around(program, at), at)
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
