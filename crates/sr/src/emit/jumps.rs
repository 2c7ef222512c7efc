//! Jumps out of loops, arms and procs, with the actions on the way out.

use super::function::{Answer, Function};

/// A construct around a statement.
#[derive(Debug)]
pub(super) enum Frame {
    /// A loop, or a co statement, to which `exit` and `next` apply.
    Loop {
        /// The number in its labels.
        number: usize,
        /// Whether there are jumps to its labels.
        exits: bool,
        nexts: bool,
        /// Actions for a jump out of it to an outer construct.
        leave: Vec<String>,
    },
    /// An arm of an input statement.
    Arm {
        /// The number in its label.
        number: usize,
        /// Whether there are jumps to its end.
        ends: bool,
        /// Copies results into the invocation.
        give_back: String,
        /// The C variable that holds the invocation; none for a semaphore.
        invocation: Option<String>,
        /// Ends the invocation.
        finish: String,
    },
    /// A block, with the actions at its end.
    Block(Vec<String>),
}

impl Function<'_> {
    /// `exit`, or `next`.
    pub(super) fn jump_in_loop(&mut self, is_exit: bool) {
        let mut at = self.frames.len();
        let mut lines = Vec::new();
        while at > 0 {
            at -= 1;
            match &mut self.frames[at] {
                Frame::Block(ends) => lines.extend(ends.iter().rev().cloned()),
                Frame::Arm {
                    give_back, finish, ..
                } => {
                    lines.extend(give_back.lines().map(|l| l.trim_start().to_string()));
                    lines.push(finish.clone());
                }
                Frame::Loop {
                    number,
                    exits,
                    nexts,
                    ..
                } => {
                    let label = if is_exit {
                        *exits = true;
                        "exit"
                    } else {
                        *nexts = true;
                        "next"
                    };
                    lines.push(format!("goto {label}_{number};"));
                    break;
                }
            }
        }
        lines.retain(|line| !line.is_empty());
        lines.iter().for_each(|line| self.line(line));
    }

    /// `return`.
    pub(super) fn jump_out(&mut self) {
        let mut at = self.frames.len();
        let mut lines = Vec::new();
        let mut is_arm = false;
        while at > 0 && !is_arm {
            at -= 1;
            match &mut self.frames[at] {
                Frame::Block(ends) => lines.extend(ends.iter().rev().cloned()),
                Frame::Loop { leave, .. } => lines.extend(leave.iter().cloned()),
                Frame::Arm { number, ends, .. } => {
                    *ends = true;
                    is_arm = true;
                    lines.push(format!("goto end_{number};"));
                }
            }
        }
        if !is_arm {
            self.leaves = true;
            lines.push("goto leave;".into());
        }
        lines.iter().for_each(|line| self.line(line));
    }

    /// Writes the actions at the end of the innermost block.
    pub(super) fn end_block(&mut self) {
        if let Some(Frame::Block(ends)) = self.frames.pop() {
            ends.iter().rev().for_each(|line| self.line(line));
        }
    }

    /// Returns the invocation that a reply or forward concerns: its C variable, and the code that
    /// copies the results into it. `None`: the creator.
    pub(super) fn answered(&self) -> Option<(String, String)> {
        for frame in self.frames.iter().rev() {
            if let Frame::Arm {
                give_back,
                invocation,
                ..
            } = frame
            {
                return invocation.clone().map(|i| (i, give_back.clone()));
            }
        }
        match self.answer {
            Answer::Invocation => Some(("q".into(), self.give_back.clone())),
            Answer::Creator | Answer::None => None,
        }
    }

    /// Whether the statement is in an arm of an input statement.
    pub(super) fn is_in_arm(&self) -> bool {
        self.frames.iter().any(|f| matches!(f, Frame::Arm { .. }))
    }
}
