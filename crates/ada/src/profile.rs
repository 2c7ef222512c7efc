//! Violations of a profile for real-time programs: Ravenscar (RM D.13) and Jorvik (RM D.13.1, since
//! Ada 2022).
//!
//! Only violations in the text are listed. The compiler checks restrictions of the run-time system.

use crate::names::{At, EntityId, Kind, Names};
use crate::source::{Place, Program};
use crate::syntax::{NodeId, Tree};

/// A profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// `pragma Profile (Ravenscar)`.
    Ravenscar,
    /// `pragma Profile (Jorvik)`: Ravenscar with entry queues, several entries, pure barriers,
    /// relative delays and the calendar.
    Jorvik,
}

/// A violation of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The place.
    pub place: Place,
    /// The restriction's name in the RM.
    pub restriction: &'static str,
    /// The violation, in words.
    pub text: String,
}

/// Returns the violations of a profile in a program, in order of files and places.
pub fn violations(program: &Program, names: &Names, profile: Profile) -> Vec<Violation> {
    let mut found = Vec::new();
    for (file, source) in program.sources.iter().enumerate() {
        let tree = &source.tree;
        for node in tree.walk(tree.root()) {
            let at = At { file, node };
            for (restriction, text) in forbidden(program, names, at, profile) {
                found.push(Violation {
                    place: source.place_of(node),
                    restriction,
                    text,
                });
            }
        }
    }
    found
}

fn forbidden(
    program: &Program,
    names: &Names,
    at: At,
    profile: Profile,
) -> Vec<(&'static str, String)> {
    let source = &program.sources[at.file];
    let tree = &source.tree;
    let is_ravenscar = profile == Profile::Ravenscar;
    let one = |restriction, text: &str| vec![(restriction, text.to_string())];
    match tree.kind(at.node) {
        "entry_declaration" if tree.ancestor(at.node, &["task_definition"]).is_some() => {
            one("Max_Task_Entries => 0", "a task entry")
        }
        "selective_accept" => one("No_Select_Statements", "a selective accept"),
        "timed_entry_call" | "conditional_entry_call" | "asynchronous_select" => {
            one("No_Select_Statements", "a select statement")
        }
        "abort_statement" => one("No_Abort_Statements", "an abort statement"),
        "requeue_statement" => one("No_Requeue_Statements", "a requeue statement"),
        "delay_relative_statement" if is_ravenscar => one("No_Relative_Delay", "a relative delay"),
        "single_protected_declaration" | "protected_type_declaration" => {
            protected(program, names, at, is_ravenscar)
        }
        "single_task_declaration" | "task_type_declaration" if !is_library_level(tree, at.node) => {
            one("No_Task_Hierarchy", "a task that is not at library level")
        }
        "entry_barrier" => barrier(program, names, at, is_ravenscar),
        "with_clause"
            if is_ravenscar && Names::key(source.text(at.node)).contains("ada.calendar") =>
        {
            one("No_Dependence => Ada.Calendar", "the calendar")
        }
        "allocator" => {
            let mark = tree
                .role(at.node, "subtype_mark")
                .and_then(|node| names.meaning(program, At { node, ..at }));
            match mark.map(|e| names.entity(e).kind) {
                Some(Kind::TaskType) => one("No_Task_Allocators", "an allocator of a task type"),
                Some(Kind::ProtectedType) => one(
                    "No_Protected_Type_Allocators",
                    "an allocator of a protected type",
                ),
                _ => vec![],
            }
        }
        _ => vec![],
    }
}

fn protected(
    program: &Program,
    names: &Names,
    at: At,
    is_ravenscar: bool,
) -> Vec<(&'static str, String)> {
    let source = &program.sources[at.file];
    let tree = &source.tree;
    let mut found = Vec::new();
    if tree.kind(at.node) == "single_protected_declaration" && !is_library_level(tree, at.node) {
        found.push((
            "No_Local_Protected_Objects",
            "a protected object that is not at library level".to_string(),
        ));
    }
    let has_timer = tree.walk(at.node).any(|n| {
        tree.kind(n) == "component_declaration"
            && Names::key(source.text(n)).contains("timing_event;")
    });
    if has_timer && !is_library_level(tree, at.node) {
        found.push((
            "No_Local_Timing_Events",
            "a timing event that is not at library level".to_string(),
        ));
    }
    let inner = names.region(at);
    let own = inner.map_or(&[][..], |s| names.scope(s).entities.as_slice());
    let entries: Vec<EntityId> = own
        .iter()
        .copied()
        .filter(|&e| names.entity(e).kind == Kind::Entry)
        .collect();
    if is_ravenscar && entries.len() > 1 {
        found.push((
            "Max_Protected_Entries => 1",
            format!("a protected object with {} entries", entries.len()),
        ));
    }
    found
}

/// Checks a barrier. Simple barriers (D.7) are a Boolean component. Pure barriers have no calls and
/// use nothing outside the object.
fn barrier(
    program: &Program,
    names: &Names,
    at: At,
    is_ravenscar: bool,
) -> Vec<(&'static str, String)> {
    let source = &program.sources[at.file];
    let tree = &source.tree;
    let Some(condition) = tree.role(at.node, "condition") else {
        return vec![];
    };
    let text = Names::key(source.text(condition));
    let is_simple = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_ravenscar && !is_simple {
        return vec![(
            "Simple_Barriers",
            format!("the barrier `{}`", source.text(condition)),
        )];
    }
    let is_impure = tree.walk(condition).any(|n| {
        let meaning = names
            .meaning(program, At { node: n, ..at })
            .map(|e| names.entity(e).kind);
        tree.kind(n) == "function_call"
            || matches!(meaning, Some(Kind::Subprogram | Kind::Variable))
    });
    if is_impure {
        vec![(
            "Pure_Barriers",
            format!("the barrier `{}`", source.text(condition)),
        )]
    } else {
        vec![]
    }
}

/// Whether a declaration is nested in packages only.
pub(crate) fn is_library_level(tree: &Tree, node: NodeId) -> bool {
    tree.ancestor(
        node,
        &[
            "subprogram_body",
            "block_statement",
            "task_body",
            "entry_body",
        ],
    )
    .is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_differ_in_barriers_and_entries() {
        let text = "package P is\n   protected O is\n      entry A;\n      entry B;\n   private\n      N : Integer := 0;\n   end O;\nend P;\n\
                    package body P is\n   protected body O is\n      entry A when N > 0 is\n      begin\n         N := N - 1;\n      end A;\n\
                    entry B when True is\n      begin\n         delay 1.0;\n      end B;\n   end O;\nend P;\n";
        let program = Program::parse([("p.ada".into(), text.as_bytes().to_vec())]).unwrap();
        let names = Names::of(&program);
        let restrictions = |p| {
            violations(&program, &names, p)
                .into_iter()
                .map(|v| v.restriction)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            restrictions(Profile::Ravenscar),
            [
                "Max_Protected_Entries => 1",
                "Simple_Barriers",
                "No_Relative_Delay"
            ]
        );
        assert_eq!(restrictions(Profile::Jorvik), Vec::<&str>::new());
    }
}
