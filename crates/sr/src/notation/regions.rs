//! Conditional critical regions. A resource becomes a global with its variables and a queue of
//! processes that wait for their conditions.
//!
//! A process that finds its condition false waits. A process that leaves a region wakes all waiting
//! ones, and each tests its condition again. Each has its own operation for waking it, so that no
//! process takes another one's turn.

use super::Made;
use super::output::{Construct, Output};

/// The operations for regions, in the specification; `@` is the parameter for the element of an
/// array of resources.
const SPECIFICATION: &str = "op r_enter(@) {call}; op r_pause(@) {call}; op r_leave(@) {call};";

/// The bodies of these operations; `~` are the variables, `@` subscripts, `%` the parameters'
/// names.
const BODY: &str = "
type r_waiter = rec(r_wake: cap (); r_next: ptr r_waiter)
~
proc r_enter(%)
  P(r_mutex@)
end
proc r_pause(%)
  op r_wake()
  var r_w: ptr r_waiter := new(r_waiter)
  r_w^.r_wake := r_wake
  r_w^.r_next := null
  if r_first@ = null -> r_first@ := r_w
  [] else -> r_last@^.r_next := r_w
  fi
  r_last@ := r_w
  V(r_mutex@)
  receive r_wake()
  P(r_mutex@)
end
proc r_leave(%)
  do r_first@ != null ->
    var r_w: ptr r_waiter := r_first@
    r_first@ := r_w^.r_next
    send r_w^.r_wake()
    free(r_w)
  od
  V(r_mutex@)
end
";

const VARIABLES: [&str; 3] = [
    "sem r_mutex := 1
var r_first: ptr r_waiter := null, r_last: ptr r_waiter := null",
    "sem r_mutex[r_low1:r_high1] := ([r_high1-r_low1+1] 1)
var r_first[r_low1:r_high1]: ptr r_waiter, r_last[r_low1:r_high1]: ptr r_waiter
fa r_i := r_low1 to r_high1 -> r_first[r_i] := null af",
    "sem r_mutex[r_low1:r_high1,r_low2:r_high2] := ([r_high1-r_low1+1] ([r_high2-r_low2+1] 1))
var r_first[r_low1:r_high1,r_low2:r_high2]: ptr r_waiter, r_last[r_low1:r_high1,r_low2:r_high2]: ptr r_waiter
fa r_i := r_low1 to r_high1, r_j := r_low2 to r_high2 -> r_first[r_i,r_j] := null af",
];

/// Suffixes of constructs for resources of 0, 1 and 2 dimensions.
const SUFFIXES: [&str; 3] = ["", "1", "2"];
const PARAMETERS: [&str; 3] = ["", "r_i: int", "r_i, r_j: int"];
const NAMES: [&str; 3] = ["", "r_i", "r_i, r_j"];
const SUBSCRIPTS: [&str; 3] = ["", "[r_i]", "[r_i,r_j]"];
const BOUNDS: [&str; 3] = [
    "",
    "const r_low1 := $2, r_high1 := $3;",
    "const r_low1 := $2, r_high1 := $3, r_low2 := $4, r_high2 := $5;",
];
const ELEMENTS: [&str; 3] = ["", "$2", "$2, $3"];
const CONDITIONS: [&str; 3] = ["$2", "$3", "$4"];

/// Returns the meaning of a construct for that many dimensions: its number of arguments and its
/// template.
fn meaning(name: &str, dimensions: usize) -> Option<(usize, String)> {
    let element = ELEMENTS[dimensions];
    Some(match name {
        "_resource" => (
            1 + 2 * dimensions,
            format!(
                "global $1; {} {}",
                BOUNDS[dimensions],
                SPECIFICATION.replace('@', PARAMETERS[dimensions])
            ),
        ),
        "_resource_end" => {
            let body = BODY
                .replace('~', VARIABLES[dimensions])
                .replace('@', SUBSCRIPTS[dimensions])
                .replace('%', NAMES[dimensions]);
            (1, format!("body $1{body}end $1"))
        }
        "_region" => (
            2 + dimensions,
            format!(
                "begin; import $1; $1.r_enter({element}); do not ({}) -> $1.r_pause({element}) od;",
                CONDITIONS[dimensions]
            ),
        ),
        "_region_end" => (1 + dimensions, format!("$1.r_leave({element}); end;")),
        _ => return None,
    })
}

const ALL: [&str; 12] = [
    "_resource",
    "_resource_end",
    "_region",
    "_region_end",
    "_resource1",
    "_resource_end1",
    "_region1",
    "_region_end1",
    "_resource2",
    "_resource_end2",
    "_region2",
    "_region_end2",
];

pub(super) fn translate(written: &str) -> Made {
    const NO_TABLE: &[Construct] = &[];
    let mut output = Output::new(written, NO_TABLE, &ALL);
    let mut at = 0;
    while let Some(found) = super::scan::next(written, at..written.len()) {
        output.copy_plain(at..found.range.start);
        at = found.range.end;
        let name = output.part(&found.name);
        let dimensions = match name.as_bytes().last() {
            Some(b'1') => 1,
            Some(b'2') => 2,
            _ => 0,
        };
        match meaning(
            name.strip_suffix(SUFFIXES[dimensions]).unwrap_or(name),
            dimensions,
        ) {
            Some((arguments, template)) => {
                if output.fits(&found, arguments) {
                    output.template(&template, &found);
                }
            }
            None => output.unknown(&found),
        }
    }
    output.copy_plain(at..written.len());
    output.made()
}
