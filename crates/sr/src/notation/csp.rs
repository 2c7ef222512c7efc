//! Communicating sequential processes. A process becomes an SR process, and a port an operation
//! that each member of its process's family services.
//!
//! A process that wants to communicate makes offers (with whom, through which port, in or out). It
//! looks for a waiting process with an offer that fits one of them. If there is none, it waits
//! until another process finds it. Then one sends and the other receives. In `_if` or `_do`, guards
//! are evaluated first, in order, and the first true one without communication is taken. If there
//! is none, all communications with true guards are offered.

mod guards;

use super::output::{Construct, Output};
use super::scan::{self, Use};
use super::{Made, Termination};
use guards::Guards;

const fn construct(name: &'static str, arguments: usize, text: &'static str) -> Construct {
    Construct {
        name,
        arguments,
        text,
    }
}

const TABLE: [Construct; 14] = [
    construct(
        "_program",
        1,
        "resource $1()\nvar csp_count := 0, csp_ports := 0;",
    ),
    construct("_program_end", 0, "end"),
    construct("_specs", 0, ""),
    construct("_process_body", 1, "process csp_$1; const csp_me := $1;"),
    construct(
        "_process_body1",
        2,
        "process csp_$1($2 := lb($1) to ub($1)); const csp_me := $1[$2];",
    ),
    construct(
        "_process_body2",
        3,
        "process csp_$1($2 := lb($1,1) to ub($1,1), $3 := lb($1,2) to ub($1,2)); const csp_me := $1[$2,$3];",
    ),
    construct("_process_end", 0, "csp_end(csp_me)\nend"),
    construct("_stmt_i", 3, STATEMENT_IN[0]),
    construct("_stmt_iq1", 6, STATEMENT_IN[1]),
    construct("_stmt_iq2", 9, STATEMENT_IN[2]),
    construct("_stmt_o", 3, STATEMENT_OUT[0]),
    construct("_stmt_oq1", 6, STATEMENT_OUT[1]),
    construct("_stmt_oq2", 9, STATEMENT_OUT[2]),
    construct(
        "_dump_pidx",
        0,
        "fa csp_i := 1 to csp_count -> write(csp_i, csp_i1[csp_i], csp_i2[csp_i]) af;",
    ),
];

/// Constructs for which a template is not enough.
const OTHERS: [&str; 18] = [
    "_process_spec",
    "_process_spec1",
    "_process_spec2",
    "_port",
    "_specs_end",
    "_if",
    "_fi",
    "_do",
    "_od",
    "_guard",
    "_guard_q1",
    "_guard_q2",
    "_guard_i",
    "_guard_iq1",
    "_guard_iq2",
    "_guard_o",
    "_guard_oq1",
    "_guard_oq2",
];

/// The start of a communicating statement.
macro_rules! opening {
    () => {
        "begin; var csp_with, csp_arm, csp_q1, csp_q2: int; "
    };
}

macro_rules! receiving {
    ($p:literal, $o:literal, $a:literal) => {
        concat!(
            " csp_match(csp_me, csp_with, csp_arm, csp_q1, csp_q2); if csp_with = 0 -> csp_fail(\"input\", $\"",
            $p, ", $\"", $o, ", $\"", $a, ") fi; receive $", $o, "[csp_i1[csp_me],csp_i2[csp_me]]$", $a, "; end;"
        )
    };
}

macro_rules! sending {
    ($p:literal, $o:literal, $a:literal) => {
        concat!(
            " csp_match(csp_me, csp_with, csp_arm, csp_q1, csp_q2); if csp_with = 0 -> csp_fail(\"output\", $\"",
            $p, ", $\"", $o, ", $\"", $a, ") fi; send $", $o, "[csp_i1[csp_with],csp_i2[csp_with]]$", $a, "; end;"
        )
    };
}

/// With no, one and two quantifiers.
const STATEMENT_IN: [&str; 3] = [
    concat!(
        opening!(),
        "csp_offer(csp_me, $1, true, csp_port_$2, 0, 0, 0);",
        receiving!("1", "2", "3")
    ),
    concat!(
        opening!(),
        "fa $1 := $2 to $3 -> csp_offer(csp_me, $4, true, csp_port_$5, 0, 0, 0) af;",
        receiving!("4", "5", "6")
    ),
    concat!(
        opening!(),
        "fa $1 := $2 to $3, $4 := $5 to $6 -> csp_offer(csp_me, $7, true, csp_port_$8, 0, 0, 0) af;",
        receiving!("7", "8", "9")
    ),
];

const STATEMENT_OUT: [&str; 3] = [
    concat!(
        opening!(),
        "csp_offer(csp_me, $1, false, csp_port_$2, 0, 0, 0);",
        sending!("1", "2", "3")
    ),
    concat!(
        opening!(),
        "fa $1 := $2 to $3 -> csp_offer(csp_me, $4, false, csp_port_$5, 0, 0, 0) af;",
        sending!("4", "5", "6")
    ),
    concat!(
        opening!(),
        "fa $1 := $2 to $3, $4 := $5 to $6 -> csp_offer(csp_me, $7, false, csp_port_$8, 0, 0, 0) af;",
        sending!("7", "8", "9")
    ),
];

/// The text behind the specifications: the place of each process in its family, and the clearing
/// house.
const HOUSE: &str = "
type csp_rec = rec(csp_with: int; csp_input: bool; csp_port, csp_arm, csp_q1, csp_q2: int; csp_next: ptr csp_rec)
var csp_first[csp_count]: ptr csp_rec, csp_last[csp_count]: ptr csp_rec
var csp_waits[csp_count]: bool := ([csp_count] false), csp_ended[csp_count]: bool := ([csp_count] false)
var csp_got[csp_count]: csp_rec
fa csp_i := 1 to csp_count -> csp_first[csp_i] := null af
sem csp_mutex := 1, csp_wake[csp_count]
procedure csp_offer(csp_who, csp_with: int; csp_input: bool; csp_port, csp_arm, csp_q1, csp_q2: int)
  var csp_p: ptr csp_rec := new(csp_rec)
  csp_p^.csp_with := csp_with; csp_p^.csp_input := csp_input; csp_p^.csp_port := csp_port
  csp_p^.csp_arm := csp_arm; csp_p^.csp_q1 := csp_q1; csp_p^.csp_q2 := csp_q2; csp_p^.csp_next := null
  if csp_first[csp_who] = null -> csp_first[csp_who] := csp_p
  [] else -> csp_last[csp_who]^.csp_next := csp_p
  fi
  csp_last[csp_who] := csp_p
end
procedure csp_drop(csp_who: int)
  do csp_first[csp_who] != null ->
    var csp_p: ptr csp_rec := csp_first[csp_who]
    csp_first[csp_who] := csp_p^.csp_next
    free(csp_p)
  od
end
procedure csp_prune(csp_who: int)
  var csp_kept: ptr csp_rec := csp_first[csp_who]
  csp_first[csp_who] := null
  do csp_kept != null ->
    var csp_p: ptr csp_rec := csp_kept
    csp_kept := csp_p^.csp_next
    if csp_ended[csp_p^.csp_with] -> free(csp_p)
    [] else ->
      csp_p^.csp_next := null
      if csp_first[csp_who] = null -> csp_first[csp_who] := csp_p
      [] else -> csp_last[csp_who]^.csp_next := csp_p
      fi
      csp_last[csp_who] := csp_p
    fi
  od
end
procedure csp_pair(csp_who: int; csp_p: ptr csp_rec) returns csp_found: bool
  var csp_other := csp_p^.csp_with
  csp_found := false
  if not csp_waits[csp_other] -> return fi
  var csp_r: ptr csp_rec := csp_first[csp_other]
  do csp_r != null ->
    if csp_r^.csp_with = csp_who and csp_r^.csp_input != csp_p^.csp_input and csp_r^.csp_port = csp_p^.csp_port ->
      csp_got[csp_who] := csp_p^
      csp_got[csp_other] := csp_r^
      csp_waits[csp_other] := false
      csp_drop(csp_other)
      V(csp_wake[csp_other])
      csp_found := true
      return
    fi
    csp_r := csp_r^.csp_next
  od
end
procedure csp_match(csp_who: int; res csp_with, csp_arm, csp_q1, csp_q2: int)
  var csp_done := false
  P(csp_mutex)
  ~
  var csp_p: ptr csp_rec := csp_first[csp_who]
  do not csp_done and csp_p != null ->
    csp_done := csp_pair(csp_who, csp_p)
    csp_p := csp_p^.csp_next
  od
  if csp_done -> csp_drop(csp_who); V(csp_mutex)
  [] else -> csp_waits[csp_who] := true; V(csp_mutex); P(csp_wake[csp_who])
  fi
  csp_with := csp_got[csp_who].csp_with; csp_arm := csp_got[csp_who].csp_arm
  csp_q1 := csp_got[csp_who].csp_q1; csp_q2 := csp_got[csp_who].csp_q2
end
procedure csp_end(csp_who: int)
  P(csp_mutex)
  csp_ended[csp_who] := true
  ^
  V(csp_mutex)
end
procedure csp_fail(csp_kind, csp_process, csp_port, csp_arguments: string[*])
  P(csp_mutex)
  write(\"cannot match \" || csp_kind || \" stmt (user error)\", csp_process, csp_port, csp_arguments)
  stop(1)
end
";

/// For implicit termination: withdraws offers to processes that have ended, and notifies processes
/// that have no other offers.
const PRUNE_OWN: &str = "csp_prune(csp_who)
  if csp_first[csp_who] = null -> csp_got[csp_who].csp_with := 0; csp_got[csp_who].csp_arm := 0; csp_with := 0; csp_arm := 0; V(csp_mutex); return fi";

const PRUNE_ALL: &str = "fa csp_i := 1 to csp_count st csp_waits[csp_i] ->
    csp_prune(csp_i)
    if csp_first[csp_i] = null ->
      csp_got[csp_i].csp_with := 0; csp_got[csp_i].csp_arm := 0; csp_waits[csp_i] := false; V(csp_wake[csp_i])
    fi
  af";

/// A family of processes.
struct Family {
    name: String,
    dimensions: usize,
}

struct Translator<'w> {
    output: Output<'w>,
    families: Vec<Family>,
    termination: Termination,
}

pub(super) fn translate(written: &str, termination: Termination) -> Made {
    let uses = all(written);
    let guards = Guards::of(written, &uses);
    let mut translator = Translator {
        output: Output::new(written, &TABLE, &OTHERS),
        families: Vec::new(),
        termination,
    };
    let mut at = 0;
    for (index, found) in uses.iter().enumerate() {
        translator.output.copy_plain(at..found.range.start);
        at = found.range.end;
        if let Some(end) = guards.write(index, &uses, &mut translator.output) {
            at = end;
        } else {
            translator.construct(found);
        }
    }
    translator.output.copy_plain(at..written.len());
    translator.output.made()
}

/// Returns all constructs of a text. Those in arguments are separate.
fn all(written: &str) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut at = 0;
    while let Some(found) = scan::next(written, at..written.len()) {
        at = found.range.end;
        uses.push(found);
    }
    uses
}

impl Translator<'_> {
    fn construct(&mut self, found: &Use) {
        match self.output.part(&found.name) {
            "_process_spec" => self.family(found, 0),
            "_process_spec1" => self.family(found, 1),
            "_process_spec2" => self.family(found, 2),
            "_port" => self.port(found),
            "_specs_end" => self.house(found),
            _ => self.output.expand(found),
        }
    }

    /// Declares a family. Processes have numbers from 1, in the order of their specifications.
    fn family(&mut self, found: &Use, dimensions: usize) {
        if !self.output.fits(found, 1 + 2 * dimensions) {
            return;
        }
        self.families.push(Family {
            name: self.output.part(&found.arguments[0]).to_owned(),
            dimensions,
        });
        let template = match dimensions {
            0 => "csp_count++; const $1 := csp_count;",
            1 => {
                "var $1[$2:$3]: int; fa csp_i := $2 to $3 -> csp_count++; $1[csp_i] := csp_count af;"
            }
            _ => {
                "var $1[$2:$3,$4:$5]: int; fa csp_i := $2 to $3, csp_j := $4 to $5 -> csp_count++; $1[csp_i,csp_j] := csp_count af;"
            }
        };
        self.output.template(template, found);
    }

    /// Declares a port: one operation for each member of a family.
    fn port(&mut self, found: &Use) {
        if !self.output.fits(found, 3) {
            return;
        }
        let process = self.output.part(&found.arguments[0]);
        let family = self.families.iter().find(|family| family.name == process);
        let bounds = match family.map(|family| family.dimensions) {
            Some(0) => "[1:1,1:1]",
            Some(1) => "[lb($1):ub($1),1:1]",
            Some(_) => "[lb($1,1):ub($1,1),lb($1,2):ub($1,2)]",
            None => {
                let message = format!("there is no process {process} that this port could be of");
                return self.output.mistake(
                    found,
                    message,
                    "write its _process_spec before the port",
                );
            }
        };
        let template = format!("op $2{bounds}$3; csp_ports++; const csp_port_$2 := csp_ports;");
        self.output.template(&template, found);
    }

    fn house(&mut self, found: &Use) {
        if !self.output.fits(found, 0) {
            return;
        }
        let mut text = "var csp_i1[csp_count]: int, csp_i2[csp_count]: int\n".to_owned();
        for Family { name, dimensions } in &self.families {
            text += &match dimensions {
                0 => format!("csp_i1[{name}] := 1; csp_i2[{name}] := 1\n"),
                1 => format!(
                    "fa csp_i := lb({name}) to ub({name}) -> csp_i1[{name}[csp_i]] := csp_i; csp_i2[{name}[csp_i]] := 1 af\n"
                ),
                _ => format!(
                    "fa csp_i := lb({name},1) to ub({name},1), csp_j := lb({name},2) to ub({name},2) ->\n\
                     csp_i1[{name}[csp_i,csp_j]] := csp_i; csp_i2[{name}[csp_i,csp_j]] := csp_j\naf\n"
                ),
            };
        }
        let (own, every) = match self.termination {
            Termination::Implicit => (PRUNE_OWN, PRUNE_ALL),
            Termination::Explicit => ("", ""),
        };
        // In the house, "^." and "^ " are dereferences; the mark has a line of its own.
        text += &HOUSE
            .replace("\n  ~\n", &format!("\n  {own}\n"))
            .replace("\n  ^\n", &format!("\n  {every}\n"));
        self.output.put(&text, found);
    }
}
