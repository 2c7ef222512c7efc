//! Full names of entities whose declarations were not given, such as `ada.text_io.put_line`.

use std::collections::{HashMap, HashSet};

use super::declare::unit_name;
use super::{At, Kind, Names, ScopeId};
use crate::source::Program;

/// Packages that declare nothing but their children.
const ONLY_CHILDREN: [&str; 2] = ["ada", "gnat"];

/// Packages that are not harmless but whose names are all known here. Any other name is not theirs.
const WHOLE: [(&str, &[&str]); 2] = [
    (
        "gnat.semaphores",
        &[
            "default_ceiling",
            "counting_semaphore",
            "binary_semaphore",
            "seize",
            "release",
        ],
    ),
    (
        "ada.synchronous_barriers",
        &["barrier_limit", "synchronous_barrier", "wait_for_release"],
    ),
];

/// Returns whether an external package may declare a name.
fn may_declare(package: &str, name: &str) -> bool {
    let whole = WHOLE.iter().find(|(known, _)| *known == package);
    whole.is_none_or(|(_, names)| names.contains(&name))
}

/// Returns the first words of the library units in with clauses, in lower case.
pub(super) fn withed(program: &Program) -> HashSet<String> {
    let clauses = program.sources.iter().flat_map(|source| {
        let tree = &source.tree;
        tree.all(tree.root(), "compilation_unit")
            .flat_map(|unit| tree.all(unit, "with_clause"))
            .flat_map(|clause| tree.children(clause))
            .map(|n| source.text(n))
    });
    clauses
        .map(|name| Names::key(name.split('.').next().unwrap_or(name).trim()))
        .collect()
}

/// Returns the files with the declaration of a library package, by its full lower-case name.
pub(super) fn specified(program: &Program) -> HashMap<String, Vec<usize>> {
    let mut found: HashMap<String, Vec<usize>> = HashMap::new();
    for (file, source) in program.sources.iter().enumerate() {
        let tree = &source.tree;
        let packages = tree
            .all(tree.root(), "compilation_unit")
            .flat_map(|unit| tree.all(unit, "package_declaration"));
        for package in packages {
            let name = unit_name(program, file, package);
            found.entry(name).or_default().push(file);
        }
    }
    found
}

/// Returns the unknown packages of types from which the program derives. Their operations are
/// inherited (RM 3.4 (17)), and visible without a use clause.
pub(super) fn inherited_from(program: &Program, names: &Names) -> Vec<String> {
    let mut found = Vec::new();
    for (file, source) in program.sources.iter().enumerate() {
        let tree = &source.tree;
        let derived = tree.walk(tree.root()).filter(|&n| {
            matches!(
                tree.kind(n),
                "derived_type_definition" | "private_extension_declaration"
            )
        });
        for mark in derived.filter_map(|n| tree.role(n, "subtype_mark")) {
            let mark = At { file, node: mark };
            if names.meaning(program, mark).is_some() {
                continue;
            }
            let parents = names.external_names(program, mark);
            let packages = parents
                .iter()
                .filter_map(|name| name.rsplit_once('.'))
                .map(|(package, _)| package.to_string());
            found.extend(packages.filter(|p| !is_predefined(p)));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Whether a package belongs to the predefined library. Operations that are inherited from it do
/// not wait.
fn is_predefined(package: &str) -> bool {
    let root = package.split('.').next().unwrap_or(package);
    ["ada", "interfaces", "system", "gnat", "standard"].contains(&root)
}

impl Names {
    /// Returns the full lower-case names that an unresolved name may mean, most likely first.
    ///
    /// With `package TIO renames Ada.Text_IO`, `TIO.Put` gives `ada.text_io.put`. A bare `Put`
    /// gives one name for each external package that may make it visible there, and `put` itself
    /// last. Such packages are those of use clauses, unknown ancestors of the unit, and those of
    /// types from which the program derives.
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
            .filter(|p| !ONLY_CHILDREN.contains(&p.as_str()) && may_declare(p, &full))
            .chain(self.absent_ancestors(program, at))
            .chain(self.inherited_from.iter().cloned())
            .map(|p| format!("{p}.{full}"))
            .collect();
        found.push(full);
        found
    }

    /// Returns the full name of an external package that a name means, through renamings and
    /// instances.
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
        if depth > 1 || self.withed.contains(&text) {
            return vec![text];
        }
        // No library unit of this name is visible, so a use clause for its parent must show it.
        let mut found: Vec<String> = self
            .used_at(program, scope, at, depth + 1)
            .into_iter()
            .map(|p| format!("{p}.{text}"))
            .collect();
        if found.is_empty() {
            found.push(text);
        }
        found
    }

    /// Returns the full lower-case names of the external packages that use clauses show at a place.
    pub fn used_packages(&self, program: &Program, at: At) -> Vec<String> {
        self.used_external(program, self.scope_around(program, at), at)
    }

    /// External packages that use clauses show at a place.
    fn used_external(&self, program: &Program, scope: ScopeId, at: At) -> Vec<String> {
        self.used_at(program, scope, at, 1)
    }

    fn used_at(&self, program: &Program, scope: ScopeId, at: At, depth: usize) -> Vec<String> {
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
                    found.extend(self.external_package(program, clause.package, depth));
                }
            }
        }
        found
    }

    /// Returns the unknown units whose declarations are directly visible at a place (RM 8.1,
    /// 10.1.3). They are ancestors of the library unit, its own specification, or the parent body
    /// of a subunit.
    fn absent_ancestors(&self, program: &Program, at: At) -> Vec<String> {
        let tree = &program.sources[at.file].tree;
        let outermost = tree
            .ancestors(at.node)
            .take_while(|&n| tree.kind(n) != "compilation_unit")
            .last();
        let Some(item) = outermost else { return vec![] };
        let name = unit_name(program, at.file, item);
        let mut found = Vec::new();
        let mut region = ScopeId(0);
        let parts: Vec<&str> = name.split('.').collect();
        for (index, part) in parts.iter().enumerate() {
            let is_last = index + 1 == parts.len();
            if is_last && tree.kind(item) != "package_body" {
                break;
            }
            let here = self.direct(region, part);
            let unit = here
                .iter()
                .copied()
                .find(|&e| self.entity(e).inner.is_some());
            let is_parent_body = tree.kind(item) == "subunit" && index + 2 == parts.len();
            match unit.map(|e| self.entity(e)) {
                Some(entity) if is_parent_body && entity.body.is_none() => {
                    found.push(parts[..=index].join("."));
                    break;
                }
                Some(entity) => region = entity.inner.unwrap_or(region),
                None => {
                    found.extend((index + 1..=parts.len()).map(|n| parts[..n].join(".")));
                    if tree.kind(item) != "package_body" {
                        found.pop();
                    }
                    break;
                }
            }
        }
        found
    }
}
