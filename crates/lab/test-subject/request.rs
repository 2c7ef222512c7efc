//! Requests as this subject reads them.

use crate::place::Place;
use std::collections::HashMap;

pub struct Refusal(pub &'static str, pub String);

pub enum Request {
    Hello,
    List,
    Placement(Place),
    Clock {
        count: u64,
    },
    Gaps {
        time_ns: u64,
        over: u64,
    },
    Batch {
        test: String,
        iterations: u64,
        blocks: u64,
        reference: u64,
        warmup: u64,
    },
    Slice {
        test: String,
        role: String,
        iterations: u64,
        warmup: u64,
    },
    Latency {
        count: u64,
        interval_ns: u64,
    },
    Series {
        count: u64,
    },
    Usage,
    Quit,
}

impl Request {
    pub fn parse(line: &str) -> Result<Self, Refusal> {
        let words: Vec<&str> = line.split(' ').collect();
        let mut fields = Fields(HashMap::new());
        for (key, value) in words.iter().filter_map(|word| word.split_once('=')) {
            if fields.0.insert(key, value).is_some() {
                return Err(bad(key));
            }
        }
        let positional: Vec<&str> = words
            .into_iter()
            .filter(|word| !word.contains('='))
            .collect();
        match positional.as_slice() {
            ["hello", "1"] => Ok(Self::Hello),
            ["hello", _] => Err(Refusal("version", "speaks 1".into())),
            ["list"] => Ok(Self::List),
            ["usage"] => Ok(Self::Usage),
            ["quit"] => Ok(Self::Quit),
            ["placement", "free"] => Ok(Self::Placement(Place::Free)),
            ["placement", "same", main] => Ok(Self::Placement(Place::Same(number(main)?))),
            ["placement", "across", main, partner] => Ok(Self::Placement(Place::Across(
                number(main)?,
                number(partner)?,
            ))),
            ["clock", "steady", count] => match number(count)? {
                0 | 1_000_001.. => Err(bad(count)),
                count => Ok(Self::Clock { count }),
            },
            ["gaps", "steady"] => match fields.number("time")? {
                time_ns @ 1_000_000..=60_000_000_000 => Ok(Self::Gaps {
                    time_ns,
                    over: fields.number("over")?,
                }),
                _ => Err(bad("time")),
            },
            ["gaps", name] | ["clock", name, _] => Err(Refusal("unknown-clock", (*name).into())),
            ["batch", test] => Ok(Self::Batch {
                test: known(test, FRAMES)?,
                iterations: fields.iterations(test)?,
                blocks: fields.positive("blocks")?,
                reference: fields.number("reference")?,
                warmup: fields.number("warmup")?,
            }),
            ["slice", test, role] => Ok(Self::Slice {
                test: known(test, FRAMES)?,
                role: match *role {
                    "control" | "test" | "reference" => (*role).into(),
                    _ => return Err(bad(role)),
                },
                iterations: fields.iterations(test)?,
                warmup: fields.number("warmup")?,
            }),
            ["latency", test] => known(test, &["probe.latency"]).and(Ok(Self::Latency {
                count: fields.positive("count")?,
                interval_ns: fields.number("interval")?,
            })),
            ["series", test] => known(test, &["probe.series"]).and(Ok(Self::Series {
                count: fields.positive("count")?,
            })),
            [verb, ..] => Err(Refusal("unknown-request", (*verb).into())),
            [] => Err(Refusal("unknown-request", String::new())),
        }
    }
}

const FRAMES: &[&str] = &["self.same", "self.dearer", "self.handoff", "probe.dear"];

fn known(test: &str, names: &[&str]) -> Result<String, Refusal> {
    if names.contains(&test) {
        return Ok(test.into());
    }
    Err(Refusal("unknown-test", test.into()))
}

fn bad(what: &str) -> Refusal {
    Refusal("bad-argument", what.into())
}

fn number<N: std::str::FromStr>(word: &str) -> Result<N, Refusal> {
    word.parse().map_err(|_| bad(word))
}

struct Fields<'a>(HashMap<&'a str, &'a str>);

impl Fields<'_> {
    fn number(&self, key: &str) -> Result<u64, Refusal> {
        number(self.0.get(key).ok_or_else(|| bad(key))?)
    }

    /// Reads the iterations, up to the limit that the list declares.
    fn iterations(&self, test: &str) -> Result<u64, Refusal> {
        match self.positive("iterations")? {
            100_001.. if test == "self.handoff" => Err(bad("iterations")),
            iterations => Ok(iterations),
        }
    }

    fn positive(&self, key: &str) -> Result<u64, Refusal> {
        match self.number(key)? {
            0 => Err(bad(key)),
            number => Ok(number),
        }
    }
}
