//! Servers and clients as Ada.

use super::client::Call;
use super::{Accept, Body, Formula, Server, Stmt, Test, Var};

pub(super) fn formula(f: &Formula) -> String {
    let x = if f.x == 0 {
        String::new()
    } else {
        format!(" + {} * X", f.x)
    };
    format!("({} * A + {} * B{x} + {}) mod 997", f.a, f.b, f.c)
}

fn test(t: &Test) -> String {
    format!(
        "({}) mod {} {} {}",
        formula(&t.formula),
        t.modulus,
        if t.is_negated { "/=" } else { "=" },
        t.rest
    )
}

pub(super) fn var(v: Var) -> &'static str {
    match v {
        Var::A => "A",
        Var::B => "B",
    }
}

pub(super) struct Printer {
    pub(super) out: String,
    indent: usize,
    /// Whether accepts are printed as calls of clients.
    calls: bool,
}

impl Printer {
    /// Returns a printer for servers that accept, or that call.
    pub(super) fn new(indent: usize, calls: bool) -> Printer {
        Printer {
            out: String::new(),
            indent,
            calls,
        }
    }

    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        self.out.push_str(&"   ".repeat(self.indent));
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    pub(super) fn nested(&mut self, inner: impl FnOnce(&mut Self)) {
        self.indent += 1;
        inner(self);
        self.indent -= 1;
    }

    pub(super) fn all(&mut self, statements: &[Stmt]) {
        if statements.is_empty() {
            self.line("null;");
        }
        statements.iter().for_each(|s| self.one(s));
    }

    fn accept(&mut self, accept: &Accept) {
        if self.calls {
            return self.client_call(accept);
        }
        let profile = if accept.entry == 3 {
            ""
        } else {
            " (X : in Integer; Y : out Integer)"
        };
        let Some(body) = &accept.body else {
            return self.line(format!("accept E{}{profile};", accept.entry));
        };
        self.line(format!("accept E{}{profile} do", accept.entry));
        self.nested(|p| p.body(body, accept.entry != 3));
        self.line(format!("end E{};", accept.entry));
    }

    fn body(&mut self, body: &Body, has_y: bool) {
        if let Some(t) = &body.raises_if {
            self.line(format!("if {} then", test(t)));
            self.nested(|p| p.line("raise Wrong;"));
            self.line("end if;");
        }
        if has_y {
            self.line(format!("Y := {};", formula(&body.result)));
        }
        if body.meets {
            self.line("Y := (2 * Y + X + A) mod 997;");
        }
        self.line(format!("{} := {};", var(body.target), formula(&body.value)));
        if !body.inner.is_empty() {
            self.line("Begun := True;");
            body.inner.iter().for_each(|s| self.one(s));
            if has_y {
                self.line("Y := (Y + A) mod 997;");
            }
        }
        if let Some(t) = &body.returns_if {
            self.line(format!("if {} then", test(t)));
            self.nested(|p| p.line("return;"));
            self.line("end if;");
        }
        self.line(format!("B := {};", formula(&body.after_return)));
    }

    fn one(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Set(v, f) => self.line(format!("{} := {};", var(*v), formula(f))),
            Stmt::Accept(accept) => self.accept(accept),
            Stmt::Select {
                alternatives,
                delay,
                terminates,
            } => {
                for (i, (guard, accept, after)) in alternatives.iter().enumerate() {
                    self.line(if i == 0 { "select" } else { "or" });
                    self.nested(|p| {
                        if let Some(t) = guard {
                            p.line(format!("when {} =>", test(t)));
                        }
                        p.accept(accept);
                        after.iter().for_each(|s| p.one(s));
                    });
                }
                if let Some(delay) = delay {
                    self.line("or");
                    self.nested(|p| {
                        if delay.is_short {
                            p.line("delay 0.1;");
                            p.line("Elapsed := True;");
                        } else {
                            p.line("delay 60.0;");
                        }
                        delay.after.iter().for_each(|s| p.one(s));
                    });
                }
                if *terminates {
                    self.line("or");
                    self.nested(|p| p.line("terminate;"));
                }
                self.line("end select;");
            }
            Stmt::If(t, yes, no) => {
                self.line(format!("if {} then", test(t)));
                self.nested(|p| p.all(yes));
                if !no.is_empty() {
                    self.line("else");
                    self.nested(|p| p.all(no));
                }
                self.line("end if;");
            }
            Stmt::Case(f, branches) => {
                self.line(format!("case ({}) mod {} is", formula(f), branches.len()));
                for (i, branch) in branches.iter().enumerate() {
                    self.line(if i + 1 == branches.len() {
                        "   when others =>".to_string()
                    } else {
                        format!("   when {i} =>")
                    });
                    self.nested(|p| p.nested(|p| p.all(branch)));
                }
                self.line("end case;");
            }
            Stmt::For {
                number,
                count,
                is_reverse,
                body,
            } => {
                let order = if *is_reverse { " reverse" } else { "" };
                self.line(format!("for I{number} in{order} 1 .. {count} loop"));
                self.nested(|p| {
                    p.line(format!("A := (A + I{number}) mod 997;"));
                    p.all(body);
                });
                self.line("end loop;");
            }
            Stmt::Loop {
                number,
                limit,
                exit_if,
                body,
            } => {
                self.line(format!("N{number} := 0;"));
                self.line(format!("Round_{number} :"));
                self.line("loop");
                self.nested(|p| {
                    p.line(format!("N{number} := N{number} + 1;"));
                    p.line(format!("exit when N{number} > {limit};"));
                    p.line(format!("if {} then", test(exit_if)));
                    p.nested(|p| p.line(format!("exit Round_{number};")));
                    p.line("end if;");
                    p.all(body);
                });
                self.line(format!("end loop Round_{number};"));
            }
            Stmt::While {
                number,
                limit,
                body,
            } => {
                self.line(format!("N{number} := 0;"));
                self.line(format!("while N{number} < {limit} loop"));
                self.nested(|p| {
                    p.line(format!("N{number} := N{number} + 1;"));
                    p.all(body);
                });
                self.line("end loop;");
            }
            Stmt::Block {
                number,
                local,
                body,
            } => {
                self.line("declare");
                self.nested(|p| {
                    p.line(format!(
                        "L{number} : constant Integer := {};",
                        formula(local)
                    ))
                });
                self.line("begin");
                self.nested(|p| {
                    p.all(body);
                    p.line(format!("B := (B + L{number}) mod 997;"));
                });
                self.line("end;");
            }
            Stmt::Serve(body) => {
                self.line("loop");
                self.nested(|p| p.all(body));
                self.line("end loop;");
            }
        }
    }

    /// Prints a loop that waits for a flag and clears it.
    fn wait_for(&mut self, flag: &str) {
        self.line(format!("while not {flag} loop"));
        self.nested(|p| p.line("delay 0.001;"));
        self.line("end loop;");
        self.line(format!("{flag} := False;"));
    }

    /// Prints a call by a task of its own, and the calls meanwhile.
    fn nest(&mut self, entry: usize, x: i64, meanwhile: &[Call]) {
        self.line("declare");
        self.nested(|p| p.line("Got : Integer := 0;"));
        self.line("begin");
        self.nested(|p| {
            p.line("declare");
            p.nested(|p| {
                p.line("task Caller;");
                p.line("task body Caller is");
                p.line("begin");
                p.nested(|p| {
                    p.line(if entry == 3 {
                        "Server.E3;".to_string()
                    } else {
                        format!("Server.E{entry} ({x}, Got);")
                    });
                });
                p.line("end Caller;");
            });
            p.line("begin");
            p.nested(|p| {
                p.wait_for("Begun");
                meanwhile.iter().for_each(|c| p.call(c));
            });
            p.line("end;");
            p.line("Log (Got);");
        });
        self.line("end;");
    }

    fn call(&mut self, call: &Call) {
        let entry = match call {
            Call::Open(e, _) | Call::Shut(e) | Call::Over(e) => *e,
            Call::Nest(entry, x, meanwhile) => return self.nest(*entry, *x, meanwhile),
            Call::Elapse => return self.wait_for("Elapsed"),
        };
        let x = if let Call::Open(_, x) = call { *x } else { 0 };
        let text = if entry == 3 {
            "Server.E3;".to_string()
        } else {
            format!("Server.E{entry} ({x}, Y);")
        };
        self.line("Y := 0;");
        self.line("begin");
        self.nested(|p| match call {
            Call::Shut(_) => {
                p.line("select");
                p.nested(|p| {
                    p.line(&text);
                    p.line("Log (-1);");
                });
                p.line("else");
                p.nested(|p| p.line("Log (-2);"));
                p.line("end select;");
            }
            _ => {
                p.line(&text);
                p.line("Log (Y);");
            }
        });
        self.line("exception");
        self.nested(|p| {
            p.line("when Tasking_Error => Log (-3);");
            p.line("when Wrong => Log (-4);");
        });
        self.line("end;");
    }
}

/// Returns the body of a server.
fn server_text(server: &Server, indent: usize) -> String {
    let mut p = Printer::new(indent, false);
    p.line("task body Server is");
    p.nested(|p| {
        p.line("A : Integer := 1;");
        p.line("B : Integer := 2;");
        (1..=server.counters).for_each(|n| p.line(format!("N{n} : Integer := 0;")));
    });
    p.line("begin");
    p.nested(|p| p.all(&server.body));
    if server.handles {
        p.line("exception");
        p.nested(|p| {
            p.line("when Wrong =>");
            p.nested(|p| p.line("A := B;"));
        });
    }
    p.line("end Server;");
    p.out
}

/// Returns a whole program of servers, each in a procedure with its client.
pub fn program(name: &str, servers: &[(Server, Vec<Call>)]) -> String {
    let mut p = Printer::new(0, false);
    p.line("with Ada.Text_IO; use Ada.Text_IO;");
    p.line(format!("procedure {name} is"));
    p.nested(|p| {
        p.line("Wrong : exception;");
        for flag in ["Begun", "Elapsed"] {
            p.line(format!("{flag} : Boolean := False;"));
            p.line(format!("pragma Atomic ({flag});"));
        }
        p.line("procedure Log (N : Integer) is");
        p.line("begin");
        p.nested(|p| p.line("Put_Line (Integer'Image (N));"));
        p.line("end Log;");
        for (number, (server, calls)) in servers.iter().enumerate() {
            p.line(format!("procedure P{number} is"));
            p.nested(|p| {
                p.line("task Server is");
                p.nested(|p| {
                    (0..3).for_each(|e| {
                        p.line(format!("entry E{e} (X : in Integer; Y : out Integer);"))
                    });
                    p.line("entry E3;");
                });
                p.line("end Server;");
                let text = server_text(server, p.indent);
                p.out.push_str(&text);
                p.line("Y : Integer;");
            });
            p.line("begin");
            p.nested(|p| {
                p.line(format!("Put_Line (\"server {number}\");"));
                calls.iter().for_each(|c| p.call(c));
            });
            p.line(format!("end P{number};"));
        }
    });
    p.line("begin");
    p.nested(|p| (0..servers.len()).for_each(|n| p.line(format!("P{n};"))));
    p.line(format!("end {name};"));
    p.out
}
