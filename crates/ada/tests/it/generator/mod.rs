//! Random servers with suitable clients. A server is a small program over two variables. It is
//! interpreted here while its client is written. So every call of the client is answered, and its
//! results are the same under every schedule.

mod calling;
mod client;
mod print;
mod rng;

pub use calling::{caller, calling_program};
pub use client::script;
pub use print::program;
pub use rng::Rng;

/// A variable of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Var {
    A,
    B,
}

/// Arithmetic modulo 997 over variables and, inside an accept, its parameter.
#[derive(Clone, Debug)]
pub struct Formula {
    pub a: i64,
    pub b: i64,
    pub x: i64,
    pub c: i64,
}

/// `Formula mod modulus = rest` (or `/=`).
#[derive(Clone, Debug)]
pub struct Test {
    pub formula: Formula,
    pub modulus: i64,
    pub rest: i64,
    pub is_negated: bool,
}

/// An accept statement of entry 0 … 3.
#[derive(Clone, Debug)]
pub struct Accept {
    pub entry: usize,
    /// Its body, if it has one.
    pub body: Option<Body>,
}

/// An accept's body: an assignment, perhaps statements that wait for other callers, perhaps an
/// early return or an exception, and the out parameter.
#[derive(Clone, Debug)]
pub struct Body {
    pub target: Var,
    pub value: Formula,
    pub inner: Vec<Stmt>,
    /// Whether the body changes the out parameter of the enclosing accept.
    pub meets: bool,
    pub returns_if: Option<Test>,
    pub raises_if: Option<Test>,
    pub after_return: Formula,
    pub result: Formula,
}

/// A delay alternative: a short one without a call before it has passed, or a long one with a call.
#[derive(Clone, Debug)]
pub struct Delay {
    pub is_short: bool,
    pub after: Vec<Stmt>,
}

/// A statement of a server.
#[derive(Clone, Debug)]
pub enum Stmt {
    Set(Var, Formula),
    Accept(Accept),
    Select {
        alternatives: Vec<(Option<Test>, Accept, Vec<Stmt>)>,
        delay: Option<Delay>,
        terminates: bool,
    },
    If(Test, Vec<Stmt>, Vec<Stmt>),
    Case(Formula, Vec<Vec<Stmt>>),
    /// `for I_n in … 1 .. count`; the loop parameter is added to A in front of the body.
    For {
        number: usize,
        count: i64,
        is_reverse: bool,
        body: Vec<Stmt>,
    },
    /// A loop that ends when its own counter is used up or the test holds.
    Loop {
        number: usize,
        limit: i64,
        exit_if: Test,
        body: Vec<Stmt>,
    },
    /// `while` with a counter of its own.
    While {
        number: usize,
        limit: i64,
        body: Vec<Stmt>,
    },
    /// A block whose local is added to B.
    Block {
        number: usize,
        local: Formula,
        body: Vec<Stmt>,
    },
    /// An endless loop around a select that terminates.
    Serve(Vec<Stmt>),
}

/// A server: its body, and the number of counters of its loops.
#[derive(Clone, Debug)]
pub struct Server {
    pub body: Vec<Stmt>,
    pub counters: usize,
    /// Whether it handles the exception that its accepts raise.
    pub handles: bool,
}

/// Returns a random server.
pub fn server(rng: &mut Rng) -> Server {
    let mut maker = Maker {
        rng,
        counters: 0,
        budget: 14,
        around: vec![],
        has_nested: false,
        only_calls: false,
    };
    let mut body = maker.statements(2, 0);
    let ends_serving = maker.rng.chance(40);
    if ends_serving {
        let select = maker.select(true);
        body.push(Stmt::Serve(vec![select]));
    } else {
        body.push(Stmt::Accept(maker.accept()));
    }
    let handles = maker.rng.chance(25) && !maker.has_nested;
    Server {
        body,
        counters: maker.counters,
        handles,
    }
}

struct Maker<'r> {
    rng: &'r mut Rng,
    counters: usize,
    budget: usize,
    /// The entries of the enclosing accepts.
    around: Vec<usize>,
    has_nested: bool,
    /// Whether the server calls its clients where another one would accept.
    only_calls: bool,
}

impl Maker<'_> {
    pub(super) fn statements(&mut self, least: usize, depth: usize) -> Vec<Stmt> {
        let count = least + self.rng.below(3);
        (0..count).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: usize) -> Stmt {
        self.budget = self.budget.saturating_sub(1);
        let choice = if depth >= 3 || self.budget == 0 {
            self.rng.below(4)
        } else {
            self.rng.below(13)
        };
        match choice {
            0 | 1 => {
                let has_x = self.has_x();
                Stmt::Set(self.var(), self.formula(has_x))
            }
            2 | 3 => Stmt::Accept(self.accept()),
            4 | 5 if self.only_calls => Stmt::Accept(self.accept()),
            4 | 5 => self.timed_select(depth),
            6 => Stmt::If(
                self.test(false),
                self.statements(1, depth + 1),
                self.optional(depth),
            ),
            7 => Stmt::Case(
                self.formula(false),
                (0..3).map(|_| self.statements(1, depth + 1)).collect(),
            ),
            8 | 9 => Stmt::For {
                number: self.number(),
                count: 1 + self.rng.below(3) as i64,
                is_reverse: self.rng.chance(30),
                body: self.statements(1, depth + 1),
            },
            10 => Stmt::Loop {
                number: self.number(),
                limit: 1 + self.rng.below(4) as i64,
                exit_if: self.test(false),
                body: self.statements(1, depth + 1),
            },
            11 => Stmt::While {
                number: self.number(),
                limit: 1 + self.rng.below(3) as i64,
                body: self.statements(1, depth + 1),
            },
            _ => Stmt::Block {
                number: self.number(),
                local: self.formula(false),
                body: self.statements(1, depth + 1),
            },
        }
    }

    /// Whether a parameter X is visible.
    fn has_x(&self) -> bool {
        self.around.iter().any(|&e| e != 3)
    }

    fn optional(&mut self, depth: usize) -> Vec<Stmt> {
        if self.rng.chance(50) {
            self.statements(1, depth + 1)
        } else {
            vec![]
        }
    }

    fn number(&mut self) -> usize {
        self.counters += 1;
        self.counters
    }

    fn var(&mut self) -> Var {
        if self.rng.chance(50) { Var::A } else { Var::B }
    }

    fn formula(&mut self, has_x: bool) -> Formula {
        let mut small = || self.rng.below(5) as i64;
        let (a, b, x, c) = (small(), small(), small(), small());
        Formula {
            a,
            b,
            x: if has_x { x } else { 0 },
            c,
        }
    }

    fn test(&mut self, has_x: bool) -> Test {
        let modulus = 2 + self.rng.below(3) as i64;
        Test {
            formula: self.formula(has_x),
            modulus,
            rest: self.rng.below(2) as i64,
            is_negated: self.rng.chance(50),
        }
    }

    /// Returns the entries that may be accepted: not those of enclosing accepts (RM 9.5.2 (15)).
    fn allowed(&self) -> Vec<usize> {
        (0..4).filter(|e| !self.around.contains(e)).collect()
    }

    pub(super) fn accept(&mut self) -> Accept {
        let allowed = self.allowed();
        let entry = allowed[self.rng.below(allowed.len())];
        // Entry 3 has no parameters.
        let has_body = self.only_calls || entry != 3 || self.rng.chance(50);
        Accept {
            entry,
            body: has_body.then(|| self.body(entry)),
        }
    }

    fn body(&mut self, entry: usize) -> Body {
        let meets = entry == 3 && self.has_x();
        self.around.push(entry);
        let has_x = self.has_x() && !self.only_calls;
        let is_outermost = self.around.len() == 1;
        let waits_inside =
            !self.only_calls && self.around.len() < 3 && self.budget > 3 && self.rng.chance(12);
        let inner = if waits_inside {
            self.has_nested = true;
            let mut inner = vec![Stmt::Accept(self.accept())];
            inner.extend(self.statements(0, 2));
            inner
        } else {
            vec![]
        };
        let can_raise = is_outermost && inner.is_empty();
        let body = Body {
            target: self.var(),
            value: self.formula(has_x),
            meets,
            returns_if: self.rng.chance(15).then(|| self.test(has_x)),
            raises_if: (can_raise && self.rng.chance(8)).then(|| Test {
                modulus: 11,
                ..self.test(has_x)
            }),
            after_return: self.formula(false),
            result: self.formula(has_x),
            inner,
        };
        self.around.pop();
        body
    }

    /// Returns a select, perhaps with a delay alternative. Even short delays are long for a test,
    /// so there are few of them.
    fn timed_select(&mut self, depth: usize) -> Stmt {
        let mut select = self.select(false);
        if let Stmt::Select { delay, .. } = &mut select
            && self.rng.chance(25)
        {
            *delay = Some(Delay {
                is_short: depth == 0 && self.rng.chance(30),
                after: vec![Stmt::Set(self.var(), self.formula(false))],
            });
        }
        select
    }

    fn select(&mut self, terminates: bool) -> Stmt {
        let allowed = self.allowed();
        let count = (2 + self.rng.below(2)).min(allowed.len());
        let first = self.rng.below(allowed.len());
        let mut alternatives = Vec::new();
        for offset in 0..count {
            // One alternative has no guard, so that something is always open.
            let guard = (offset > 0 && self.rng.chance(60)).then(|| self.test(false));
            let entry = allowed[(first + offset) % allowed.len()];
            let has_body = entry != 3 || self.rng.chance(50);
            let accept = Accept {
                entry,
                body: has_body.then(|| self.body(entry)),
            };
            let after = if self.rng.chance(60) {
                vec![Stmt::Set(self.var(), self.formula(false))]
            } else {
                vec![]
            };
            alternatives.push((guard, accept, after));
        }
        Stmt::Select {
            alternatives,
            delay: None,
            terminates,
        }
    }
}
