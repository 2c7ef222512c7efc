//! Monitors. A monitor becomes a global. A condition variable becomes a queue of waiting processes,
//! each with an operation that wakes it.
//!
//! One process at a time is in the monitor. A process that waits lets another one in. The
//! signalling discipline determines how the signalling and the woken process continue.

use super::output::{Construct, Output};
use super::{Made, Signalling};

const fn construct(name: &'static str, arguments: usize, text: &'static str) -> Construct {
    Construct {
        name,
        arguments,
        text,
    }
}

const COMMON: [Construct; 13] = [
    construct("_monitor", 1, "global $1"),
    construct("_monitor_end", 0, "end"),
    construct(
        "_condvar",
        1,
        "var $1: m_condition; $1.m_name := $\"1; $1.m_first := null;",
    ),
    construct(
        "_condvar1",
        2,
        "var $1[$2]: m_condition\nfa m_i := lb($1) to ub($1) -> sprintf($1[m_i].m_name, $\"1 || \"[%d]\", int(m_i)); $1[m_i].m_first := null af;",
    ),
    construct(
        "_condvar2",
        3,
        "var $1[$2,$3]: m_condition\nfa m_i := lb($1) to ub($1), m_j := lb($1,2) to ub($1,2) ->\n\
         sprintf($1[m_i,m_j].m_name, $\"1 || \"[%d,%d]\", int(m_i), int(m_j)); $1[m_i,m_j].m_first := null\naf;",
    ),
    construct("_proc", 1, "proc $1; m_enter();"),
    construct("_proc_end", 0, "m_leave()\nend"),
    construct("_wait", 1, "m_wait($1, 0);"),
    construct("_pri_wait", 2, "m_wait($1, $2);"),
    construct("_empty", 1, "m_empty($1)"),
    construct("_minrank", 1, "m_minrank($1)"),
    construct("_print", 1, "m_print($1);"),
    construct("_signal_all", 1, "m_signal_all($1);"),
];

/// The start of every monitor's body. Waiting processes are ordered by rank, and by age within a
/// rank.
const QUEUES: &str = "
type m_waiter = rec(m_wake: cap (); m_rank: int; m_next: ptr m_waiter)
type m_condition = rec(m_name: string[100]; m_first: ptr m_waiter)
sem m_mutex := 1
procedure m_enter()
  P(m_mutex)
end
procedure m_take(ref m_c: m_condition)
  var m_w: ptr m_waiter := m_c.m_first
  m_c.m_first := m_w^.m_next
  send m_w^.m_wake()
  free(m_w)
end
procedure m_put(ref m_c: m_condition; m_w: ptr m_waiter)
  if m_c.m_first = null ->
    m_w^.m_next := null
    m_c.m_first := m_w
    return
  fi
  if m_c.m_first^.m_rank > m_w^.m_rank ->
    m_w^.m_next := m_c.m_first
    m_c.m_first := m_w
    return
  fi
  var m_before: ptr m_waiter := m_c.m_first
  do m_before^.m_next != null ->
    if m_before^.m_next^.m_rank > m_w^.m_rank -> exit fi
    m_before := m_before^.m_next
  od
  m_w^.m_next := m_before^.m_next
  m_before^.m_next := m_w
end
procedure m_empty(ref m_c: m_condition) returns m_is: bool
  m_is := m_c.m_first = null
end
procedure m_minrank(ref m_c: m_condition) returns m_rank: int
  if m_c.m_first = null ->
    write(\"\\t**** minrank called on empty Q ****\")
    flush(stdout)
    m_rank := 999999
  [] else -> m_rank := m_c.m_first^.m_rank
  fi
end
procedure m_print(ref m_c: m_condition)
  var m_count := 0, m_differ := false, m_w: ptr m_waiter := m_c.m_first
  do m_w != null ->
    m_count++
    if m_w^.m_rank != m_c.m_first^.m_rank -> m_differ := true fi
    m_w := m_w^.m_next
  od
  writes(\"\\t**** Printing for \", m_c.m_name, \" **** \", m_count, \" waiting process(es)\")
  if m_differ ->
    write(\", with ranks:\")
    m_w := m_c.m_first
    do m_w != null -> writes(\" \", m_w^.m_rank); m_w := m_w^.m_next od
  [] not m_differ and m_count > 0 -> writes(\", all with rank \", m_c.m_first^.m_rank)
  fi
  write()
  flush(stdout)
end
";

/// Leaving: lets in the next process that wants to enter.
const LEAVE: &str = "
procedure m_leave()
  V(m_mutex)
end
";

/// Leaving: processes that have signalled come first.
const LEAVE_URGENTLY: &str = "
sem m_urgent
var m_urgent_count := 0
procedure m_leave()
  if m_urgent_count > 0 -> m_urgent_count--; V(m_urgent)
  [] else -> V(m_mutex)
  fi
end
";

/// Waiting; `$` is the action of the woken process before it continues.
const WAIT: &str = "
procedure m_wait(ref m_c: m_condition; m_rank: int)
  op m_wake()
  var m_w: ptr m_waiter := new(m_waiter)
  m_w^.m_wake := m_wake
  m_w^.m_rank := m_rank
  m_put(m_c, m_w)
  m_leave()
  receive m_wake()
  $
end
";

/// Signalling; `$` is the action after a process was woken. That process then has the monitor,
/// unless it must enter again.
const SIGNAL: &str = "
procedure m_signal(ref m_c: m_condition)
  if m_c.m_first != null -> m_take(m_c); $
  fi
end
";

const SIGNAL_ALL: &str = "
procedure m_signal_all(ref m_c: m_condition)
  do m_c.m_first != null -> m_take(m_c) od
end
";

const SIGNAL_AND_EXIT: &str = "
procedure m_signal(ref m_c: m_condition)
  if m_c.m_first != null -> m_take(m_c)
  [] else -> m_leave()
  fi
end
";

fn support(signalling: Signalling) -> String {
    let leave = match signalling {
        Signalling::UrgentWait => LEAVE_URGENTLY,
        _ => LEAVE,
    };
    let woken = match signalling {
        Signalling::Continue => "m_enter()",
        _ => "",
    };
    let signal = match signalling {
        Signalling::Continue => SIGNAL.replace('$', "") + SIGNAL_ALL,
        Signalling::Wait => SIGNAL.replace('$', "m_enter()"),
        Signalling::UrgentWait => SIGNAL.replace('$', "m_urgent_count++; P(m_urgent)"),
        Signalling::Exit => SIGNAL_AND_EXIT.to_owned(),
    };
    [QUEUES, leave, &WAIT.replace('$', woken), &signal].concat()
}

pub(super) fn translate(written: &str, signalling: Signalling) -> Made {
    let signal = match signalling {
        Signalling::Exit => "m_signal($1); return;",
        _ => "m_signal($1);",
    };
    let mut table: Vec<Construct> = COMMON.into_iter().collect();
    table.push(construct("_signal", 1, signal));
    let mut output = Output::new(written, &table, &["_body"]);
    let mut at = 0;
    while let Some(found) = super::scan::next(written, at..written.len()) {
        output.copy_plain(at..found.range.start);
        at = found.range.end;
        match output.part(&found.name) {
            "_body" if output.fits(&found, 1) => {
                output.template("body $1", &found);
                output.put(&support(signalling), &found);
            }
            "_body" => {}
            "_signal_all" if signalling != Signalling::Continue => output.mistake(
                &found,
                "_signal_all does not go with this discipline of signalling: only one process can have the monitor next".to_owned(),
                "use m2sr=sc, signal and continue",
            ),
            _ => output.expand(&found),
        }
    }
    output.copy_plain(at..written.len());
    output.made()
}
