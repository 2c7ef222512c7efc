//! Names: the declaration of each identifier of a program.
//!
//! This module handles scopes and entities of all given files (RM 8.1–8.3), use clauses (8.4),
//! renamings (8.5) and overloading by profile (8.6). The latter uses the number, names and known
//! types of the actual parameters. Units whose source was not given, such as the predefined
//! library, are *external*: their names stay unresolved here. [`Names::external_names`] returns
//! their full names.

mod declare;
mod external;
mod resolve;
mod types;
pub mod values;

use std::collections::{HashMap, HashSet};

use crate::source::{Place, Program};
use crate::syntax::NodeId;

pub use types::Ty;

/// A declared entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntityId(u32);

/// A declarative region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeId(u32);

/// A node of one of the program's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    /// The file's index in [`Program::sources`].
    pub file: usize,
    /// The node in that file's tree.
    pub node: NodeId,
}

/// The kind of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the language's own
pub enum Kind {
    Package,
    GenericPackage,
    Subprogram,
    GenericSubprogram,
    TaskType,
    SingleTask,
    ProtectedType,
    SingleProtected,
    Entry,
    Type,
    Subtype,
    Variable,
    Constant,
    Parameter,
    LoopParameter,
    Component,
    Discriminant,
    Literal,
    Exception,
    ObjectRenaming,
    PackageRenaming,
    SubprogramRenaming,
    ExceptionRenaming,
    PackageInstance,
    SubprogramInstance,
    Label,
    Occurrence,
}

/// A declaration.
#[derive(Debug, Clone)]
pub struct Entity {
    /// The name as it is spelt where it is declared.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// The declaration.
    pub at: At,
    /// The defining identifier.
    pub ident: At,
    /// The region in which it is declared.
    pub scope: ScopeId,
    /// The region that it opens, if any.
    pub inner: Option<ScopeId>,
    /// The body that completes it, if it was given.
    pub body: Option<At>,
}

/// A declarative region.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The region around it.
    pub parent: Option<ScopeId>,
    /// The visible and private parts that this body completes: they form one region with it (RM
    /// 8.1).
    pub completes: Option<ScopeId>,
    /// The entity whose region it is.
    pub owner: Option<EntityId>,
    /// The entities declared in it, in order of declaration.
    pub entities: Vec<EntityId>,
    by_name: HashMap<String, Vec<EntityId>>,
    uses: Vec<Use>,
}

#[derive(Debug, Clone)]
struct Use {
    /// The file and byte from which it takes effect; context clauses count from 0.
    file: usize,
    from: usize,
    package: At,
}

/// The names of a program.
#[derive(Debug, Default)]
pub struct Names {
    /// All declarations.
    pub entities: Vec<Entity>,
    scopes: Vec<Scope>,
    /// Regions by the node that opens them.
    regions: HashMap<At, ScopeId>,
    /// The meaning of each identifier, by file and first byte.
    meanings: HashMap<(usize, usize), EntityId>,
    /// The uses of each declaration, in order of file and place, without the defining identifiers.
    uses: HashMap<EntityId, Vec<At>>,
    /// All identifiers of each file, by their lower-case text.
    identifiers: Vec<HashMap<String, Vec<NodeId>>>,
    /// The declarations, by their defining identifiers.
    defining: HashMap<At, EntityId>,
    /// The files with an identifier, by its lower-case text.
    files: HashMap<String, Vec<usize>>,
    /// The files with the declaration of a library package, by its full lower-case name.
    specified: HashMap<String, Vec<usize>>,
    /// The entity that a body completes.
    completed: HashMap<At, EntityId>,
    /// The first words of the library units that with clauses name.
    withed: HashSet<String>,
    /// Unknown packages from which the program's types inherit operations.
    inherited_from: Vec<String>,
}

impl Names {
    /// Resolves the names of a program.
    pub fn of(program: &Program) -> Names {
        let mut names = Names {
            withed: external::withed(program),
            specified: external::specified(program),
            ..Names::default()
        };
        declare::declare(program, &mut names);
        resolve::resolve(program, &mut names);
        names.inherited_from = external::inherited_from(program, &names);
        names.defining = names.all().map(|(id, e)| (e.ident, id)).collect();
        for source in &program.sources {
            let mut here: HashMap<String, Vec<NodeId>> = HashMap::new();
            for node in source
                .tree
                .walk(source.tree.root())
                .filter(|&n| source.tree.kind(n) == "identifier")
            {
                here.entry(Names::key(source.text(node)))
                    .or_default()
                    .push(node);
            }
            for key in here.keys() {
                let files = names.files.entry(key.clone()).or_default();
                files.push(names.identifiers.len());
            }
            names.identifiers.push(here);
        }
        let bodies = names.all().filter_map(|(id, e)| Some((e.body?, id)));
        names.completed = bodies.collect();
        names
    }

    /// Returns the files with an identifier of a (lower-case) text, in order.
    pub fn files_with(&self, key: &str) -> &[usize] {
        self.files.get(key).map_or(&[], Vec::as_slice)
    }

    /// Returns the files with the declaration of a library package, by its full lower-case name.
    pub fn specifications(&self, package: &str) -> &[usize] {
        self.specified.get(package).map_or(&[], Vec::as_slice)
    }

    /// Returns the entity that a body completes.
    pub fn completed_by(&self, body: At) -> Option<EntityId> {
        self.completed.get(&body).copied()
    }

    /// Returns a declaration.
    pub fn entity(&self, id: EntityId) -> &Entity {
        &self.entities[id.0 as usize]
    }

    /// Returns the identifiers of a file with a (lower-case) text.
    pub fn occurrences(&self, file: usize, key: &str) -> &[NodeId] {
        self.identifiers
            .get(file)
            .and_then(|f| f.get(key))
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the entity that an identifier declares, if any.
    pub fn declared_by(&self, ident: At) -> Option<EntityId> {
        self.defining.get(&ident).copied()
    }

    /// Returns the full lower-case name of a declaration, such as `lib.queue.put`.
    pub fn full_name(&self, id: EntityId) -> String {
        let entity = self.entity(id);
        let mut parts = vec![Names::key(&entity.name)];
        let mut scope = Some(entity.scope);
        while let Some(around) = scope {
            let region = self.scope(around);
            if let Some(owner) = region.owner {
                parts.push(Names::key(&self.entity(owner).name));
            }
            scope = region.parent;
        }
        parts.reverse();
        parts.join(".")
    }

    /// Returns a region.
    pub fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0 as usize]
    }

    /// Returns all declarations with their numbers.
    pub fn all(&self) -> impl Iterator<Item = (EntityId, &Entity)> {
        self.entities
            .iter()
            .enumerate()
            .map(|(i, e)| (EntityId(i as u32), e))
    }

    /// Returns the meaning of an identifier, or of the last identifier of an expanded name.
    pub fn meaning(&self, program: &Program, at: At) -> Option<EntityId> {
        let tree = &program.sources[at.file].tree;
        let mut node = at.node;
        while tree.kind(node) == "selected_component" {
            node = tree.role(node, "selector_name")?;
        }
        self.meanings.get(&(at.file, tree.start(node))).copied()
    }

    /// Returns the uses of a declaration, in order of file and place.
    pub fn uses_of(&self, id: EntityId) -> &[At] {
        self.uses.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Returns the region that a node opens.
    pub fn region(&self, at: At) -> Option<ScopeId> {
        self.regions.get(&at).copied()
    }

    /// Returns the innermost region around a node.
    pub fn scope_around(&self, program: &Program, at: At) -> ScopeId {
        let tree = &program.sources[at.file].tree;
        tree.ancestors(at.node)
            .find_map(|node| self.region(At { node, ..at }))
            .unwrap_or(ScopeId(0))
    }

    /// Returns the place of a declaration.
    pub fn place(&self, program: &Program, id: EntityId) -> Place {
        let ident = self.entity(id).ident;
        program.sources[ident.file].place_of(ident.node)
    }

    /// Returns the regions around a region, beginning with itself; a body's specification follows
    /// the body.
    pub fn around(&self, scope: ScopeId) -> Vec<ScopeId> {
        let mut found = Vec::new();
        let mut next = Some(scope);
        while let Some(id) = next {
            found.push(id);
            found.extend(self.scope(id).completes);
            next = self.scope(id).parent;
        }
        found
    }

    /// Whether something is declared inside a node (of the same file).
    pub fn is_declared_in(&self, program: &Program, id: EntityId, outer: At) -> bool {
        let at = self.entity(id).ident;
        at.file == outer.file && program.sources[at.file].tree.is_within(at.node, outer.node)
    }

    /// Returns the first declaration of an entity with several: a specification's parameter for a
    /// body's, and a private or incomplete type for a full one.
    pub fn first_declaration(&self, id: EntityId) -> EntityId {
        let entity = self.entity(id);
        let key = Names::key(&entity.name);
        match entity.kind {
            Kind::Parameter => {
                let owner = self.scope(entity.scope).owner;
                let spec = owner
                    .and_then(|o| self.entity(o).inner)
                    .filter(|&s| s != entity.scope);
                spec.and_then(|s| self.scope(s).by_name.get(&key)?.first().copied())
                    .unwrap_or(id)
            }
            Kind::Type
            | Kind::TaskType
            | Kind::ProtectedType
            | Kind::Constant
            | Kind::Discriminant => {
                let mut scope = entity.scope;
                if entity.kind == Kind::Discriminant
                    && let Some(owner) = self.scope(scope).owner
                {
                    let first = self.first_declaration(owner);
                    scope = self.entity(first).inner.unwrap_or(scope);
                }
                let region = self.scope(scope);
                let found = region.by_name.get(&key).and_then(|all| {
                    all.iter()
                        .copied()
                        .find(|&e| self.is_type_or_same(e, entity.kind))
                });
                found.unwrap_or(id)
            }
            _ => id,
        }
    }

    fn is_type_or_same(&self, id: EntityId, kind: Kind) -> bool {
        let other = self.entity(id).kind;
        other == kind
            || matches!(
                (other, kind),
                (Kind::Type, Kind::TaskType | Kind::ProtectedType)
            )
    }

    pub(crate) fn key(name: &str) -> String {
        if name.is_ascii() {
            name.to_ascii_lowercase()
        } else {
            name.to_lowercase()
        }
    }
}
