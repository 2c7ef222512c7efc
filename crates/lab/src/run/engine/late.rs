//! Items beyond the time of a full run. They are left out, and measured when the run is resumed.

use super::Engine;
use crate::run::{Event, Task};

impl Engine<'_, '_> {
    /// Decides whether an item is left out of a process start because the time is spent. Load is
    /// exempt: its servers take turns within one item, which already makes the fewest rounds.
    pub(super) fn leaves_out(&mut self, position: usize, start: u32) -> bool {
        let is_short = matches!(
            self.items[position].task,
            Task::Frame | Task::Program { .. }
        );
        let is_late = is_short
            && self.ends_in_time
            && self.budget.remaining() == Some(0.0)
            && !self.interrupted()
            && self.is_due(position, start);
        self.late += usize::from(is_late);
        is_late
    }

    /// Reports the omitted items; returns whether every item was measured all the same.
    pub(super) fn tell_left_out(&mut self) -> bool {
        let without = self
            .results
            .iter()
            .filter(|result| result.is_none())
            .count();
        if self.late > 0 {
            let (run, all) = (self.run, self.items.len());
            let text = match without {
                0 => format!(
                    "the time budget was spent before all process starts were measured: {} figures rest on fewer",
                    self.late
                ),
                _ => format!(
                    "the time budget was spent before {without} of {all} figures were measured; `antiphon measure --resume {run}` goes on with them for as long again"
                ),
            };
            self.tell(Event::Warning(&text));
        }
        self.late == 0 || without == 0
    }
}
