//! The client of a server, made by interpreting the server.

use super::{Accept, Body, Formula, Rng, Server, Stmt, Test, Var};

/// The next action of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A call that is answered.
    Open(usize, i64),
    /// A conditional call that is not.
    Shut(usize),
    /// A call after the server's end.
    Over(usize),
    /// A call whose accept waits for other calls, which are made meanwhile.
    Nest(usize, i64, Vec<Call>),
    /// No call until the time of a delay alternative has passed.
    Elapse,
}

/// The reason why interpretation stopped.
enum Stop {
    Enough,
    Raised,
}

struct Run<'r> {
    a: i64,
    b: i64,
    /// The parameter of the innermost accept that has one.
    x: i64,
    rng: &'r mut Rng,
    calls: Vec<Call>,
    room: usize,
}

/// Returns the calls of a server's client, up to the server's end or to a terminate alternative.
pub fn script(server: &Server, rng: &mut Rng) -> Vec<Call> {
    let mut run = Run {
        a: 1,
        b: 2,
        x: 0,
        rng,
        calls: vec![],
        room: 12,
    };
    let stopped = run.all(&server.body);
    if !matches!(stopped, Err(Stop::Enough)) {
        // Completed: every call gets Tasking_Error.
        run.calls.push(Call::Over(0));
        run.calls.push(Call::Over(3));
    }
    run.calls
}

impl Run<'_> {
    fn all(&mut self, statements: &[Stmt]) -> Result<(), Stop> {
        statements.iter().try_for_each(|s| self.one(s))
    }

    fn value(&self, f: &Formula) -> i64 {
        (f.a * self.a + f.b * self.b + f.x * self.x + f.c) % 997
    }

    fn holds(&self, t: &Test) -> bool {
        (self.value(&t.formula) % t.modulus == t.rest) != t.is_negated
    }

    fn set(&mut self, var: Var, value: i64) {
        match var {
            Var::A => self.a = value,
            Var::B => self.b = value,
        }
    }

    fn one(&mut self, statement: &Stmt) -> Result<(), Stop> {
        match statement {
            Stmt::Set(var, f) => {
                let value = self.value(f);
                self.set(*var, value);
                Ok(())
            }
            Stmt::Accept(accept) => {
                self.shut(&[accept.entry]);
                self.serve(accept)
            }
            Stmt::Select {
                alternatives,
                delay,
                terminates,
            } => {
                if *terminates && self.room == 0 {
                    return Err(Stop::Enough);
                }
                let open: Vec<_> = alternatives
                    .iter()
                    .filter(|(g, _, _)| g.as_ref().is_none_or(|t| self.holds(t)))
                    .collect();
                let entries: Vec<usize> = open.iter().map(|(_, a, _)| a.entry).collect();
                self.shut(&entries);
                if let Some(delay) = delay.as_ref().filter(|d| d.is_short) {
                    self.calls.push(Call::Elapse);
                    return self.all(&delay.after);
                }
                let (_, accept, after) = open[self.rng.below(open.len())];
                self.serve(accept)?;
                self.all(after)
            }
            Stmt::If(test, yes, no) => {
                if self.holds(test) {
                    self.all(yes)
                } else {
                    self.all(no)
                }
            }
            Stmt::Case(f, branches) => {
                let branch = self.value(f) % branches.len() as i64;
                self.all(&branches[branch as usize])
            }
            Stmt::For {
                count,
                is_reverse,
                body,
                ..
            } => {
                for i in 1..=*count {
                    let i = if *is_reverse { count + 1 - i } else { i };
                    self.a = (self.a + i) % 997;
                    self.all(body)?;
                }
                Ok(())
            }
            Stmt::Loop {
                limit,
                exit_if,
                body,
                ..
            } => {
                let mut used = 0;
                loop {
                    used += 1;
                    if used > *limit || self.holds(exit_if) {
                        return Ok(());
                    }
                    self.all(body)?;
                }
            }
            Stmt::While { limit, body, .. } => (0..*limit).try_for_each(|_| self.all(body)),
            Stmt::Block { local, body, .. } => {
                let local = self.value(local);
                self.all(body)?;
                self.b = (self.b + local) % 997;
                Ok(())
            }
            Stmt::Serve(body) => loop {
                self.all(body)?;
            },
        }
    }

    /// Sometimes adds a conditional call of an entry that is not open.
    fn shut(&mut self, open: &[usize]) {
        let entry = self.rng.below(4);
        if !open.contains(&entry) && self.rng.chance(30) {
            self.calls.push(Call::Shut(entry));
        }
    }

    fn serve(&mut self, accept: &Accept) -> Result<(), Stop> {
        let x = self.rng.below(100) as i64;
        self.room = self.room.saturating_sub(1);
        let Some(body) = &accept.body else {
            self.calls.push(Call::Open(accept.entry, x));
            return Ok(());
        };
        let outer = self.x;
        if accept.entry != 3 {
            self.x = x;
        }
        let around = std::mem::take(&mut self.calls);
        let done = self.body(body);
        let meanwhile = std::mem::replace(&mut self.calls, around);
        self.calls.push(if body.inner.is_empty() {
            Call::Open(accept.entry, x)
        } else {
            Call::Nest(accept.entry, x, meanwhile)
        });
        self.x = outer;
        done
    }

    fn body(&mut self, body: &Body) -> Result<(), Stop> {
        if body.raises_if.as_ref().is_some_and(|t| self.holds(t)) {
            return Err(Stop::Raised);
        }
        let value = self.value(&body.value);
        self.set(body.target, value);
        self.all(&body.inner)?;
        if body.returns_if.as_ref().is_some_and(|t| self.holds(t)) {
            return Ok(());
        }
        self.b = self.value(&body.after_return);
        Ok(())
    }
}
