//! Names: which declaration each identifier of a program means.
//!
//! Scopes and entities of all given files (RM 8.1–8.3), use clauses (8.4), renamings (8.5) and overloading by profile (8.6, by number,
//! names and known types of the actual parameters). Units that were not given, such as the predefined library, are *external*:
//! their names stay unresolved here and are known by their full name through [`Names::external_names`].

mod declare;
mod external;
mod resolve;
mod types;
pub mod values;

use std::collections::HashMap;

use crate::source::{Place, Program};
use crate::syntax::NodeId;

pub use types::Ty;

/// A declared thing.
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

/// What is declared.
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
    /// What is declared.
    pub kind: Kind,
    /// The declaration.
    pub at: At,
    /// The defining identifier.
    pub ident: At,
    /// The region in which it is declared.
    pub scope: ScopeId,
    /// The region that it opens, if it does.
    pub inner: Option<ScopeId>,
    /// The body that completes it, if it was given.
    pub body: Option<At>,
}

/// A declarative region.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The region around it.
    pub parent: Option<ScopeId>,
    /// The visible and private part that this body completes: one region with it (RM 8.1).
    pub completes: Option<ScopeId>,
    /// Whose region it is.
    pub owner: Option<EntityId>,
    /// What is declared in it, in order of declaration.
    pub entities: Vec<EntityId>,
    by_name: HashMap<String, Vec<EntityId>>,
    uses: Vec<Use>,
}

#[derive(Debug, Clone)]
struct Use {
    /// From which byte of which file on; context clauses count from 0.
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
    /// What an identifier means, by file and first byte.
    meanings: HashMap<(usize, usize), EntityId>,
    /// The uses of each declaration, in order of file and place; the defining identifiers are not among them.
    uses: HashMap<EntityId, Vec<At>>,
    /// All identifiers of each file, by their lower-case text.
    identifiers: Vec<HashMap<String, Vec<NodeId>>>,
    /// The declarations, by their defining identifiers.
    defining: HashMap<At, EntityId>,
}

impl Names {
    /// Resolves the names of a program.
    pub fn of(program: &Program) -> Names {
        let mut names = Names::default();
        declare::declare(program, &mut names);
        resolve::resolve(program, &mut names);
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
            names.identifiers.push(here);
        }
        names
    }

    /// A declaration.
    pub fn entity(&self, id: EntityId) -> &Entity {
        &self.entities[id.0 as usize]
    }

    /// The identifiers of a file with a (lower-case) text.
    pub fn occurrences(&self, file: usize, key: &str) -> &[NodeId] {
        self.identifiers
            .get(file)
            .and_then(|f| f.get(key))
            .map_or(&[], Vec::as_slice)
    }

    /// What an identifier declares, if it declares something.
    pub fn declared_by(&self, ident: At) -> Option<EntityId> {
        self.defining.get(&ident).copied()
    }

    /// A region.
    pub fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0 as usize]
    }

    /// All declarations with their numbers.
    pub fn all(&self) -> impl Iterator<Item = (EntityId, &Entity)> {
        self.entities
            .iter()
            .enumerate()
            .map(|(i, e)| (EntityId(i as u32), e))
    }

    /// What an identifier (or the last identifier of an expanded name) means.
    pub fn meaning(&self, program: &Program, at: At) -> Option<EntityId> {
        let tree = &program.sources[at.file].tree;
        let mut node = at.node;
        while tree.kind(node) == "selected_component" {
            node = tree.role(node, "selector_name")?;
        }
        self.meanings.get(&(at.file, tree.start(node))).copied()
    }

    /// The uses of a declaration, in order of file and place.
    pub fn uses_of(&self, id: EntityId) -> &[At] {
        self.uses.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The region that a node opens.
    pub fn region(&self, at: At) -> Option<ScopeId> {
        self.regions.get(&at).copied()
    }

    /// The innermost region around a node.
    pub fn scope_around(&self, program: &Program, at: At) -> ScopeId {
        let tree = &program.sources[at.file].tree;
        tree.ancestors(at.node)
            .find_map(|node| self.region(At { node, ..at }))
            .unwrap_or(ScopeId(0))
    }

    /// Where something is declared.
    pub fn place(&self, program: &Program, id: EntityId) -> Place {
        let ident = self.entity(id).ident;
        program.sources[ident.file].place_of(ident.node)
    }

    /// The regions around a region, itself first; a body's specification comes right after the body.
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

    /// The first declaration of what is declared more than once: a body's parameter is its specification's, a full type its
    /// private or incomplete one's.
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
