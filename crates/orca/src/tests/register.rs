//! The object type of the histories. All its operations have the same arguments.

use serde::{Deserialize, Serialize};

/// The invoker of an operation: the process, and the number of the operation in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Token {
    pub process: u32,
    pub number: u32,
}

#[orca::object]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credit {
    pub left: i64,
}

#[orca::object]
impl Credit {
    #[guard(self.left > 0)]
    pub fn spend(&mut self) -> i64 {
        self.left -= 1;
        self.left
    }
}

#[orca::object]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Register {
    pub value: i64,
    pub version: i64,
    pub credit: i64,
    pub log: Vec<Token>,
}

#[orca::object]
impl Register {
    /// No process waits for it.
    pub fn write(&mut self, token: Token, value: i64) {
        self.value = value;
        self.version += 1;
        self.log.push(token);
    }

    pub fn swap(&mut self, token: Token, value: i64) -> i64 {
        self.version += 1;
        self.log.push(token);
        std::mem::replace(&mut self.value, value)
    }

    pub fn read(&self, token: Token, value: i64) -> i64 {
        let _ = (token, value);
        self.value * 1000 + self.version
    }

    #[guard(self.version >= value)]
    pub fn reach(&self, token: Token, value: i64) -> i64 {
        self.version
    }

    /// No process waits for it.
    pub fn give(&mut self, token: Token, value: i64) {
        self.log.push(token);
        self.credit += value;
    }

    /// Serves waiting processes in their order, which the log records.
    #[guard(self.credit >= value)]
    pub fn take(&mut self, token: Token, value: i64) -> i64 {
        self.log.push(token);
        self.credit -= value;
        self.credit
    }

    /// Reads where the version is even, and else writes.
    #[operation(either)]
    #[guard(self.version % 2 == 0)]
    pub fn look(&self, token: Token, value: i64) -> i64 {
        self.version
    }

    #[operation(either)]
    #[guard(self.version % 2 != 0)]
    pub fn step(&mut self, token: Token, value: i64) -> i64 {
        self.log.push(token);
        self.version += 1;
        self.value += value;
        -self.version
    }
}

/// An object that holds another one. Operations of the inner object may block.
#[orca::object]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nest {
    pub tries: i64,
    pub log: Vec<Token>,
    #[nested]
    pub nested: Credit,
}

#[orca::object]
impl Nest {
    pub fn give_nested(&mut self, token: Token, value: i64) -> i64 {
        self.log.push(token);
        self.nested.left += value;
        self.nested.left
    }

    /// Changes the object, and then blocks if there is no nested credit.
    pub fn take_nested(&mut self, token: Token, value: i64) -> i64 {
        self.tries += value;
        self.log.push(token);
        self.nested.spend();
        self.tries
    }

    /// The first alternative may block within.
    #[operation(take_or)]
    pub fn take_one(&mut self, token: Token, value: i64) -> i64 {
        self.tries += value;
        self.log.push(token);
        self.nested.spend()
    }

    #[operation(take_or)]
    pub fn take_none(&mut self, token: Token, value: i64) -> i64 {
        self.log.push(token);
        -value
    }
}

/// Both types together for the check of histories. An object is one of them.
#[derive(Debug, Default)]
pub struct Model {
    register: Register,
    nest: Nest,
}

impl Model {
    /// Executes an operation by its name, as specified.
    ///
    /// # Panics
    /// `None` if it blocks, or there is none of that name.
    pub fn execute(&mut self, operation: &str, token: Token, value: i64) -> Option<i64> {
        let (register, nest) = (&mut self.register, &mut self.nest);
        Some(match operation {
            "write" => {
                register.write(token, value);
                return None;
            }
            "give" => {
                register.give(token, value);
                return None;
            }
            "swap" => register.swap(token, value),
            "read" => register.read(token, value),
            "reach" => register.reach(token, value),
            "take" => register.take(token, value),
            "either" => register.either(token, value),
            "give_nested" => nest.give_nested(token, value),
            "take_nested" => nest.take_nested(token, value),
            "take_or" => {
                nest.log.push(token);
                if nest.nested.left == 0 {
                    return Some(-value);
                }
                nest.tries += value;
                nest.nested.left -= 1;
                nest.nested.left
            }
            other => panic!("there is no operation {other}"),
        })
    }
}
