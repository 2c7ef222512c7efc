//! Visibility of names (RM 8.3, 8.4).

use crate::names::{At, EntityId, Kind, Names, ScopeId, Ty};
use crate::source::Program;

impl Names {
    /// Returns the entities that a name may mean at a place, nearest first: directly visible ones,
    /// then those from use clauses.
    pub(crate) fn visible(
        &self,
        program: &Program,
        key: &str,
        scope: ScopeId,
        file: usize,
        byte: usize,
    ) -> Vec<EntityId> {
        let around = self.around(scope);
        let mut found = Vec::new();
        for &region in &around {
            for &id in self
                .scope(region)
                .by_name
                .get(key)
                .map_or(&[][..], Vec::as_slice)
                .iter()
                .rev()
            {
                let ident = self.entity(id).ident;
                let is_seen = ident.file != file
                    || program.sources[file].tree.start(ident.node) < byte
                    || region.0 == 0;
                if !is_seen {
                    continue;
                }
                let is_overloadable = matches!(
                    self.entity(id).kind,
                    Kind::Subprogram
                        | Kind::Entry
                        | Kind::Literal
                        | Kind::SubprogramRenaming
                        | Kind::SubprogramInstance
                );
                if is_overloadable {
                    found.push(id);
                } else if found.is_empty() {
                    return vec![id];
                } else {
                    return found;
                }
            }
        }
        for &region in &around {
            for clause in &self.scope(region).uses {
                if clause.file == file && clause.from > byte {
                    continue;
                }
                let Some(package) = self.meaning_or_visible(program, clause.package, region) else {
                    continue;
                };
                let Some(inner) = self.package_region(program, package) else {
                    continue;
                };
                found.extend(
                    self.scope(inner)
                        .by_name
                        .get(key)
                        .map_or(&[][..], Vec::as_slice),
                );
            }
        }
        found
    }

    /// Returns a meaning even if the name was not visited yet: a use clause may be searched before
    /// its own name was resolved.
    pub(super) fn meaning_or_visible(
        &self,
        program: &Program,
        name: At,
        scope: ScopeId,
    ) -> Option<EntityId> {
        if let Some(known) = self.meaning(program, name) {
            return Some(known);
        }
        let text = program.sources[name.file].text(name.node);
        let mut parts = text.split('.').map(|p| Names::key(p.trim()));
        let first = parts.next()?;
        let is_package = |&id: &EntityId| {
            self.entity(id).inner.is_some()
                || matches!(
                    self.entity(id).kind,
                    Kind::PackageInstance | Kind::PackageRenaming
                )
        };
        let mut found = self
            .around(scope)
            .into_iter()
            .find_map(|s| self.direct(s, &first).into_iter().find(is_package))?;
        for part in parts {
            found = self
                .direct(self.package_region(program, found)?, &part)
                .into_iter()
                .find(is_package)?;
        }
        Some(found)
    }

    /// Returns the region in which `Entity.Name` is looked up: that of a package, its instance or
    /// renaming, a subprogram or a single task.
    pub(crate) fn package_region(&self, program: &Program, id: EntityId) -> Option<ScopeId> {
        let mut id = id;
        for _ in 0..20 {
            let entity = self.entity(id);
            let role = match entity.kind {
                Kind::PackageRenaming => "package_name",
                Kind::PackageInstance => "generic_name",
                Kind::Variable
                | Kind::Parameter
                | Kind::Component
                | Kind::Constant
                | Kind::ObjectRenaming
                | Kind::Entry => return None,
                _ => return entity.inner,
            };
            let tree = &program.sources[entity.at.file].tree;
            let mut name = tree
                .role(entity.at.node, role)
                .or_else(|| tree.role(entity.at.node, "generic_package_name"))?;
            if tree.kind(name) == "function_call" {
                name = tree.role(name, "name")?;
            }
            let at = At {
                file: entity.at.file,
                node: name,
            };
            id = match self.meaning(program, at) {
                Some(known) => known,
                None => self.meaning_or_visible(program, at, entity.scope)?,
            };
        }
        None
    }

    /// Returns the members of a value, also through access: entries and operations of a task or
    /// protected object, components of a record.
    pub(super) fn members(&self, program: &Program, ty: Ty, key: &str) -> Vec<EntityId> {
        for ty in [ty, self.designated(program, ty)] {
            if let Some(inner) = self
                .concurrent(program, ty)
                .and_then(|e| self.entity(e).inner)
            {
                return self.direct(inner, key);
            }
            for kind in ["record_type_definition", "derived_type_definition"] {
                let Some(at) = self.definition(program, ty, kind) else {
                    continue;
                };
                let tree = &program.sources[at.file].tree;
                let owner = tree
                    .parent(at.node)
                    .and_then(|node| self.region(At { node, ..at }));
                let found = owner.map_or(vec![], |s| self.direct(s, key));
                if !found.is_empty() {
                    return found;
                }
            }
        }
        vec![]
    }
}
