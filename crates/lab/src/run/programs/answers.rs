//! Answers of programs: all must be the same, from run to run and from program to program.

use super::Member;
use crate::record::Absence;
use std::collections::BTreeMap;

/// Notes the answer of a run; returns `false` if it differs from earlier ones. The program then has
/// no figure.
pub(super) fn agrees(member: &mut Member, answer: String) -> bool {
    let Some(before) = &member.answer else {
        member.answer = Some(answer);
        return true;
    };
    if *before != answer {
        let reason = format!(
            "its answer changes from run to run: `{}`, then `{}`",
            short(before),
            short(&answer)
        );
        member.absence = Some(Absence::new(reason, "mend the program: it has a race"));
        return false;
    }
    true
}

/// Removes the figure of each program whose answer differs from the majority's; of all if two
/// answers are equally frequent.
pub(super) fn disagreements(members: &mut [Member]) {
    let agreeing = |member: &&mut Member| member.absence.is_none();
    let mut members: Vec<&mut Member> = members.iter_mut().filter(agreeing).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for answer in members.iter().filter_map(|member| member.answer.as_deref()) {
        *counts.entry(answer).or_default() += 1;
    }
    if counts.len() < 2 {
        return;
    }
    let most = counts.values().copied().max().unwrap_or_default();
    let mut with_most = counts.iter().filter(|(_, count)| **count == most);
    let right = match (with_most.next(), with_most.next()) {
        (Some((answer, _)), None) => Some((*answer).to_owned()),
        _ => None,
    };
    for member in &mut members {
        let wrong = member.answer.as_deref() != right.as_deref();
        if let Some(answer) = member.answer.as_deref().filter(|_| wrong) {
            let others = right.as_deref().map_or("others of its group".into(), short);
            let reason = format!("its answer is `{}`, and not `{others}`", short(answer));
            member.absence = Some(Absence::new(reason, "mend the program"));
        }
    }
}

/// Returns an answer on one line, shortened if it is long.
pub(super) fn short(answer: &str) -> String {
    const LETTERS: usize = 80;
    let line = answer.trim_end().replace('\n', " / ");
    match line.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
