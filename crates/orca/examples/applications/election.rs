//! A leader election. Terms come in one order with at most one leader in each, and all machines see
//! the same ones.

use orca::{Error, On, Orca, Placement, Shared};
use serde::{Deserialize, Serialize};

use crate::jobs::Tally;

#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Election {
    /// The leaders, term by term.
    leaders: Vec<u32>,
    leads: Option<u32>,
    terms: usize,
}

#[orca::object]
impl Election {
    /// Waits until there is no leader, and becomes the leader. Returns the term, or nothing after
    /// the last.
    #[operation(campaign)]
    #[guard(self.leads.is_none() && self.leaders.len() < self.terms)]
    pub fn win(&mut self, candidate: u32) -> Option<usize> {
        self.leads = Some(candidate);
        self.leaders.push(candidate);
        Some(self.leaders.len())
    }

    #[operation(campaign)]
    #[guard(self.leads.is_none() && self.leaders.len() >= self.terms)]
    pub fn end(&self, candidate: u32) -> Option<usize> {
        let _ = candidate;
        None
    }

    pub fn leader(&self) -> Option<u32> {
        self.leads
    }

    pub fn resign(&mut self, candidate: u32) -> bool {
        self.leads.take_if(|it| *it == candidate).is_some()
    }

    #[guard(self.leads.is_none() && self.leaders.len() == self.terms)]
    pub fn terms(&self) -> u64 {
        self.leaders.len() as u64
    }
}

pub fn sequential(terms: usize) -> u64 {
    (terms * (terms + 1) / 2) as u64
}

#[orca::process]
fn candidate(election: Shared<Election>, led: Shared<Tally>, own: u32) -> Result<(), Error> {
    let mut sum = 0;
    while let Some(term) = election.campaign(own)? {
        assert_eq!(election.leader()?, Some(own), "nobody else leads");
        sum += term as u64;
        assert!(election.resign(own)?);
    }
    led.add(sum)
}

pub fn parallel(orca: &Orca, terms: usize) -> Result<u64, Error> {
    let state = Election {
        terms,
        ..Election::default()
    };
    let election = orca.create_at(Placement::Replicated, state)?;
    let led = orca.create(Tally::default())?;
    let machines = orca.machines();
    for machine in &machines {
        candidate::fork(
            orca,
            On::Machine(*machine),
            election.clone(),
            led.clone(),
            *machine,
        )?;
    }
    election.terms()?;
    led.total(machines.len() as u32)
}
