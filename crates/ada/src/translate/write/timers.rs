//! The timing event of a server with delay alternatives, and its handler.

use super::Writer;
use super::entries::choice;
use crate::translate::code::Code;
use crate::translate::{exceptions, timing};

const EVENTS: &str = "Ada.Real_Time.Timing_Events";

impl Writer<'_> {
    pub(super) fn timer_declarations(&self) -> Vec<String> {
        let Some(timing) = &self.server.timing else {
            return vec![];
        };
        let mut lines = vec![
            format!("procedure {}", timing.handler),
            format!("  (Event : in out {EVENTS}.Timing_Event);"),
        ];
        let procedures = timing.procedures.values();
        lines.extend(procedures.map(|p| format!("procedure {p};")));
        lines.push(format!("{} : {EVENTS}.Timing_Event;", timing.event));
        lines
    }

    pub(super) fn timer_bodies(&mut self) -> Vec<Vec<String>> {
        let Some(timing) = self.server.timing.clone() else {
            return vec![];
        };
        let cx = self.cx();
        let mut found = Vec::new();
        for (&wait, name) in &timing.procedures {
            let wait = &cx.flow.waits[wait];
            let lines = timing::set(cx, &timing, wait, &self.step, |n| self.text(n));
            let header = format!("procedure {name} is");
            found.push(self.subprogram(&header, name, &[], &[Code::Lines(lines)]));
        }
        found.push(self.handler(&timing));
        found
    }

    fn handler(&mut self, timing: &timing::Timing) -> Vec<String> {
        let cx = self.cx();
        let mut arms: Vec<(String, Vec<Code>)> = Vec::new();
        for &wait in timing.procedures.keys() {
            let Some(point) = cx.flow.elapsed(wait) else {
                continue;
            };
            let mut code = self.machine.way_on(point, Some(wait));
            if exceptions::must_watch_rest(cx, point) {
                let node = cx.flow.waits[wait].node;
                let machine = &mut self.machine;
                code = vec![exceptions::watched(cx, machine, code, Some(node), false)];
            }
            arms.push((self.standing_test(wait), code));
        }
        let is_unset = format!("{EVENTS}.Current_Handler (Event) = null");
        let tests: Vec<String> = arms
            .iter()
            .map(|(t, _)| t.clone())
            .filter(|t| !t.is_empty())
            .collect();
        let inner = match arms.len() {
            1 => arms.remove(0).1,
            _ => vec![choice_of_all(arms)],
        };
        let header = match &tests[..] {
            [only] => format!("if {is_unset}\n  and then {only}\nthen"),
            _ => format!("if {is_unset} then"),
        };
        let body = Code::Compound {
            open: None,
            arms: vec![(header, inner)],
            close: "end if;".into(),
            is_tail: true,
        };
        let comment =
            Code::line("--  The event may be late: a call was served, and the timer set again");
        let name = &timing.handler;
        let profile = format!("procedure {name}\n  (Event : in out {EVENTS}.Timing_Event)\nis");
        let uses = [format!("use type {EVENTS}.Timing_Event_Handler;")];
        self.kept_up(&profile, name, &uses, &[comment, body])
    }

    /// Returns the test that the server is at a wait.
    fn standing_test(&self, wait: usize) -> String {
        let test = self.stage_test(wait);
        match self.closed_test() {
            Some(closed) if test.is_empty() => format!("not {closed}"),
            _ => test,
        }
    }
}

/// Returns a choice without `else`, because the server may be at a wait without a timer.
fn choice_of_all(mut arms: Vec<(String, Vec<Code>)>) -> Code {
    arms.push((String::new(), vec![]));
    choice(arms)
}
