//! Random pauses before entry calls, so that calls arrive in orders that do not occur on an idle
//! machine.

use crate::edit::{self, Edit, Edited};
use crate::names::{At, Kind, Names};
use crate::source::Program;
use crate::syntax::{NodeId, Tree};

/// A unit that pauses in half of its calls, for up to two milliseconds, seeded by the clock.
const PAUSES: &str = "\
package Antiphon_Pauses is
   procedure Pause;
end Antiphon_Pauses;

with Ada.Calendar;
package body Antiphon_Pauses is

   type Word is mod 2 ** 32;

   protected Dice is
      procedure Roll (N : out Word);
   private
      State : Word := Word (Ada.Calendar.Seconds (Ada.Calendar.Clock) * 1_000.0);
   end Dice;

   protected body Dice is
      procedure Roll (N : out Word) is
      begin
         State := State * 1_664_525 + 1_013_904_223;
         N := State / 2 ** 16;
      end Roll;
   end Dice;

   procedure Pause is
      N : Word;
   begin
      Dice.Roll (N);
      if N mod 2 = 0 then
         delay Duration (N mod 2_000) * 0.000_001;
      end if;
   end Pause;

end Antiphon_Pauses;
";

/// Returns the program with its edits and with pauses before entry calls, as a program and its
/// remaining edits.
///
/// Returns none if the edited program cannot be read.
pub(super) fn perturb(program: &Program, edited: &[Edited]) -> Option<(Program, Vec<Edited>)> {
    let files = program.sources.iter().enumerate().map(|(file, source)| {
        let text = edited
            .iter()
            .find(|e| e.file == file)
            .map_or(&source.text, |e| &e.text);
        (source.path.clone(), source.encode(text))
    });
    let unit = ("antiphon_pauses.ada".into(), PAUSES.as_bytes().to_vec());
    let count = program.sources.len();
    let whole = Program::parse(files.chain([unit])).ok()?;
    let names = Names::of(&whole);
    let mut edits = Vec::new();
    for (file, source) in whole.sources.iter().enumerate().take(count) {
        let tree = &source.tree;
        let mut needs_with = Vec::new();
        for node in tree.walk(tree.root()) {
            let at = At { file, node };
            if let Some(place) = pause_before(&whole, &names, at) {
                edits.push(Edit {
                    file,
                    range: place..place,
                    text: "Antiphon_Pauses.Pause; ".into(),
                });
                needs_with.extend(
                    tree.ancestors(node)
                        .last()
                        .and_then(|_| unit_of(tree, node)),
                );
            }
        }
        needs_with.dedup();
        for unit in needs_with {
            let start = context_start(tree, unit);
            edits.push(Edit {
                file,
                range: start..start,
                text: "with Antiphon_Pauses; ".into(),
            });
        }
    }
    let edits = edit::apply(&whole, &edits);
    Some((whole, edits))
}

/// Returns the place for a pause: before a statement that calls an entry, outside of protected
/// actions and select alternatives.
fn pause_before(program: &Program, names: &Names, at: At) -> Option<usize> {
    let tree = &program.sources[at.file].tree;
    if tree.kind(at.node) != "procedure_call_statement"
        || tree.ancestor(at.node, &["protected_body"]).is_some()
    {
        return None;
    }
    let mut name = tree.role(at.node, "name")?;
    if tree.kind(name) == "function_call" {
        name = tree.role(name, "name")?;
    }
    let entry = names.meaning(program, At { node: name, ..at })?;
    if names.entity(entry).kind != Kind::Entry {
        return None;
    }
    let select = tree.ancestor(
        at.node,
        &[
            "entry_call_alternative",
            "triggering_alternative",
            "sequence_of_statements",
        ],
    )?;
    let statement = if tree.kind(select) == "sequence_of_statements" {
        at.node
    } else {
        tree.parent(select)?
    };
    Some(tree.start(statement))
}

pub(super) fn unit_of(tree: &Tree, node: NodeId) -> Option<NodeId> {
    tree.ancestor(node, &["compilation_unit"])
}

/// Returns the start of a unit's context clause: in the grammar, clauses are separate units.
pub(super) fn context_start(tree: &Tree, unit: NodeId) -> usize {
    let mut first = unit;
    while let Some(previous) = tree.previous(first) {
        let is_clause = tree
            .children(previous)
            .next()
            .is_some_and(|n| matches!(tree.kind(n), "with_clause" | "use_clause" | "pragma_g"));
        if !is_clause {
            break;
        }
        first = previous;
    }
    tree.start(first)
}
