//! Operations on arrays over a simulated network, compared with a model that executes them in their
//! order.

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_panda::message::value_in;
use antiphon_panda::{Rank, Session, thread};
use antiphon_panda_sim::{Chance, End, Fault as Trouble, Kind, Network, Simulation};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::SECOND;
use crate::entry::{Executed, ObjectId};
use crate::fault::{Fault, Mutant};
use crate::process::Program;
use crate::{Distribution, Error, On, Orca, Partitioned, Placement, Shared, Spread, View, Whole};

/// A point of the arrays. All operations have the same arguments: a token that identifies the call,
/// and a value.
#[derive(Clone, Serialize, Deserialize)]
struct Point(u64);

/// Returns the points beside a point.
fn cross([row, column]: [usize; 2], _: [usize; 2]) -> [[usize; 2]; 4] {
    [
        [row.wrapping_sub(1), column],
        [row + 1, column],
        [row, column.wrapping_sub(1)],
        [row, column + 1],
    ]
}

fn shifted([row, column]: [usize; 2], shape: [usize; 2], _: &u64, value: &u64) -> [[usize; 2]; 1] {
    [[(row + *value as usize) % shape[0], column]]
}

fn first([row, column]: [usize; 2]) -> u64 {
    (row * 31 + column * 7) as u64
}

/// Returns the new value of a point from the others that it sees.
fn stepped(
    operation: &str,
    (at, shape): ([usize; 2], [usize; 2]),
    see: impl Fn([usize; 2]) -> Option<u64>,
    (token, value): (u64, u64),
) -> u64 {
    let own = see(at).unwrap_or(0);
    let seen = |row: usize, column: usize| see([row % shape[0], column % shape[1]]).unwrap_or(0);
    let [row, column] = at;
    let other = match operation {
        "blur" => cross(at, shape)
            .into_iter()
            .zip([1, 3, 5, 7])
            .fold(0, |sum: u64, (it, by)| {
                sum.wrapping_add(see(it).unwrap_or(1).wrapping_mul(by))
            }),
        "mix" => seen(row * 3 + value as usize, column * 5 + own as usize % 64),
        "roll" => seen(row + 1, column),
        "chase" => seen(own as usize % 64, value as usize),
        "shift" => seen(row + value as usize, column),
        _ => 0,
    };
    own.wrapping_mul(3).wrapping_add(other).wrapping_add(token)
}

macro_rules! stepping {
    ($name:ident $element:ident $view:ident $token:ident $value:ident) => {{
        let see = |at| $view.get(at).map(|it: &Point| it.0);
        let place = ($view.at(), $view.shape());
        $element.0 = stepped(stringify!($name), place, see, ($token, $value));
    }};
}

#[orca::elements(2)]
impl Point {
    #[initial]
    fn initial(at: [usize; 2], _: [usize; 2]) -> Self {
        Self(first(at))
    }

    #[parallel]
    #[reads(declared = cross)]
    fn blur(&mut self, view: &View<'_, Self, 2>, token: u64, value: u64) {
        stepping!(blur self view token value);
    }

    #[parallel]
    fn mix(&mut self, view: &View<'_, Self, 2>, token: u64, value: u64) {
        stepping!(mix self view token value);
    }

    #[parallel]
    #[reads(recorded)]
    fn roll(&mut self, view: &View<'_, Self, 2>, token: u64, value: u64) {
        stepping!(roll self view token value);
    }

    #[parallel]
    #[reads(on_demand)]
    fn chase(&mut self, view: &View<'_, Self, 2>, token: u64, value: u64) {
        stepping!(chase self view token value);
    }

    #[parallel]
    #[reads(declared_by_call = shifted)]
    fn shift(&mut self, view: &View<'_, Self, 2>, token: u64, value: u64) {
        stepping!(shift self view token value);
    }

    #[parallel]
    fn add(&mut self, token: &u64, value: u64) {
        let _ = value;
        self.0 = self.0.wrapping_mul(3).wrapping_add(*token);
    }

    #[parallel]
    #[reads(own)]
    #[reduce(later)]
    fn newest(&self, view: &View<'_, Self, 2>, token: u64, value: u64) -> (u64, u64) {
        let _ = (token, value);
        let [row, column] = view.at();
        ((row * view.shape()[1] + column) as u64, self.0)
    }

    #[parallel]
    #[gather]
    fn values(&self, token: u64, value: u64) -> u64 {
        let _ = (token, value);
        self.0
    }

    #[sequential]
    fn fill(whole: &mut Whole<'_, Self, 2>, token: u64, value: u64) -> u64 {
        let [rows, columns] = whole.shape();
        let row = value as usize % rows;
        for column in 0..columns {
            let below = whole[[(row + 1) % rows, column]].0;
            whole[[row, column]].0 = below.wrapping_add(token);
        }
        whole[[0, 0]].0
    }

    #[sequential]
    #[reads(on_demand)]
    fn poke(whole: &mut Whole<'_, Self, 2>, token: u64, value: u64) -> u64 {
        let [rows, columns] = whole.shape();
        let at = [value as usize % rows, token as usize % columns];
        whole[at].0 = whole[at].0.wrapping_add(token);
        whole[at].0
    }

    #[sequential]
    #[reads(on_demand)]
    fn peek(whole: &Whole<'_, Self, 2>, token: u64, value: u64) -> u64 {
        let [rows, columns] = whole.shape();
        whole[[value as usize % rows, token as usize % columns]].0
    }

    #[sequential]
    fn sum(whole: &Whole<'_, Self, 2>, token: u64, value: u64) -> u64 {
        let _ = (token, value);
        whole
            .indices()
            .fold(0, |sum, at| sum.wrapping_add(whole[at].0))
    }
}

/// Returns the later of two elements of the array.
fn later(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    let digest = one.1.wrapping_add(other.1);
    (one.0.max(other.0), digest)
}

const OPERATIONS: [&str; 12] = [
    "blur", "mix", "roll", "chase", "shift", "add", "newest", "values", "fill", "poke", "peek",
    "sum",
];

type Points = Partitioned<Point, 2>;

fn invoke(points: &Points, operation: &str, token: u64, value: u64) -> Result<Vec<u64>, Error> {
    let none = |()| Vec::new();
    let one = |value| vec![value];
    match operation {
        "blur" => points.blur(token, value).map(none),
        "mix" => points.mix(token, value).map(none),
        "roll" => points.roll(token, value).map(none),
        "chase" => points.chase(token, value).map(none),
        "shift" => points.shift(token, value).map(none),
        "add" => points.add(token, value).map(none),
        "newest" => points
            .newest(token, value)
            .map(|(at, digest)| vec![at, digest]),
        "values" => points
            .values(token, value)
            .map(crate::Gathered::into_values),
        "fill" => points.fill(token, value).map(one),
        "poke" => points.poke(token, value).map(one),
        "peek" => points.peek(token, value).map(one),
        _ => points.sum(token, value).map(one),
    }
}

/// The expected state of an array.
struct Model {
    shape: [usize; 2],
    points: Vec<u64>,
}

impl Model {
    fn new(shape: [usize; 2]) -> Self {
        let all = (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |column| [row, column]));
        Self {
            shape,
            points: all.map(first).collect(),
        }
    }

    fn place(&self, [row, column]: [usize; 2]) -> usize {
        row * self.shape[1] + column
    }

    fn execute(&mut self, operation: &str, token: u64, value: u64) -> Vec<u64> {
        let [rows, columns] = self.shape;
        let digest = self
            .points
            .iter()
            .fold(0_u64, |sum, it| sum.wrapping_add(*it));
        match operation {
            "newest" => vec![self.points.len() as u64 - 1, digest],
            "sum" => vec![digest],
            "values" => self.points.clone(),
            "peek" | "poke" => {
                let place = self.place([value as usize % rows, token as usize % columns]);
                if operation == "poke" {
                    self.points[place] = self.points[place].wrapping_add(token);
                }
                vec![self.points[place]]
            }
            "fill" => {
                let row = value as usize % rows;
                for column in 0..columns {
                    let below = self.points[self.place([(row + 1) % rows, column])];
                    let place = self.place([row, column]);
                    self.points[place] = below.wrapping_add(token);
                }
                vec![self.points[0]]
            }
            _ => {
                let see = |at: [usize; 2]| {
                    let is_within = at[0] < rows && at[1] < columns;
                    is_within.then(|| self.points[self.place(at)])
                };
                let all = (0..rows).flat_map(|row| (0..columns).map(move |column| [row, column]));
                let step = |at| stepped(operation, (at, self.shape), see, (token, value));
                self.points = all.map(step).collect();
                Vec::new()
            }
        }
    }
}

/// The record of a run: operations by their place, and results by their token.
#[derive(Default)]
struct Book {
    executed: BTreeMap<u64, (ObjectId, String, u64, u64)>,
    told: BTreeMap<u64, Vec<u64>>,
    shapes: BTreeMap<ObjectId, [usize; 2]>,
    faults: Vec<String>,
    may_lose: bool,
}

impl Book {
    fn enter(&mut self, executed: &Executed<'_>, place: u64) {
        let Ok((token, value)) = value_in::<(u64, u64)>(executed.arguments) else {
            return;
        };
        let entry = (executed.object, executed.operation.to_owned(), token, value);
        let before = self.executed.insert(place, entry.clone());
        if let Some(before) = before.filter(|it| *it != entry) {
            self.faults
                .push(format!("place {place} is {before:?} and {entry:?}"));
        }
    }

    /// Executes all operations again, one after the other, and compares.
    fn check(&self) -> Result<usize, String> {
        if let Some(fault) = self.faults.first() {
            return Err(fault.clone());
        }
        let mut models: BTreeMap<ObjectId, Model> = BTreeMap::new();
        let mut left = self.told.clone();
        for (place, (object, operation, token, value)) in &self.executed {
            let shape = self.shapes.get(object).ok_or("an array that nobody made")?;
            let model = models.entry(*object).or_insert_with(|| Model::new(*shape));
            let wanted = model.execute(operation, *token, *value);
            if let Some(told) = left.remove(token)
                && told != wanted
            {
                return Err(format!(
                    "{operation}({token}, {value}) at {place} returned {told:?}, and not {wanted:?}"
                ));
            }
        }
        match left.is_empty() {
            true => Ok(self.told.len()),
            false => Err(format!("{left:?} were never executed")),
        }
    }
}

thread_local! {
    /// The book of the simulation on this thread, for processes that are forked in it.
    static BOOK: std::cell::RefCell<Arc<Mutex<Book>>> = std::cell::RefCell::default();
}

fn book() -> Arc<Mutex<Book>> {
    BOOK.with_borrow(Clone::clone)
}

#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
struct Arrived {
    count: u64,
}

#[orca::object]
impl Arrived {
    fn arrive(&mut self) {
        self.count += 1;
    }

    #[guard(self.count >= count)]
    fn all(&self, count: u64) {}
}

/// Invokes operations at random.
#[orca::process]
fn user(
    orca: &Orca,
    arrays: Vec<Points>,
    arrived: Shared<Arrived>,
    drawn: (u64, u64, u64),
) -> Result<(), Error> {
    let (seed, process, count) = drawn;
    if let Err(error) = use_arrays(orca, &arrays, (seed, process, count)) {
        let book = book();
        let mut book = book.lock();
        let is_expected = book.may_lose
            && matches!(
                error,
                Error::ObjectLost { .. } | Error::NoMachine(_) | Error::Panda(_)
            );
        if !is_expected {
            book.faults.push(format!("process {process}: {error}"));
        }
    }
    arrived.arrive()
}

fn use_arrays(
    orca: &Orca,
    arrays: &[Points],
    (seed, process, count): (u64, u64, u64),
) -> Result<(), Error> {
    let mut chance = Chance::new(seed.wrapping_mul(1013) + process);
    for number in 0..count {
        let array = &arrays[chance.below(arrays.len() as u64) as usize];
        if chance.below(12) == 0 {
            let shape = book().lock().shapes[&array.id()];
            array.distribute(&distribution(&mut chance, shape, &orca.machines()))?;
        }
        let token = process * 1000 + number;
        let operation = OPERATIONS[chance.below(OPERATIONS.len() as u64) as usize];
        let result = invoke(array, operation, token, chance.below(100))?;
        book().lock().told.insert(token, result);
    }
    Ok(())
}

fn distribution(chance: &mut Chance, shape: [usize; 2], machines: &[Rank]) -> Distribution {
    let parts = shape.map(|length| chance.between(1, length as u64) as usize);
    match chance.below(4) {
        0 => Distribution::cyclic(&parts, machines),
        1 => Distribution::block(&parts, machines),
        2 => {
            let owners = (0..parts[0] * parts[1])
                .map(|_| machines[chance.below(machines.len() as u64) as usize]);
            Distribution::owners(&parts, &owners.collect::<Vec<_>>())
        }
        _ => {
            let along = [(1, Spread::Block), (machines.len(), Spread::Cyclic)];
            Distribution::grid(&parts, machines, &along)
        }
    }
}

/// A history of arrays.
#[derive(Debug, Clone, Copy)]
struct Plan {
    seed: u64,
    machines: u32,
    crashes: bool,
    /// A machine joins, and gets parts.
    joins: bool,
}

impl Plan {
    fn calm(seed: u64) -> Self {
        let mut chance = Chance::new(seed ^ 0xa44a);
        Self {
            seed,
            machines: chance.between(1, 5) as u32,
            crashes: false,
            joins: false,
        }
    }

    fn joining(seed: u64) -> Self {
        Self {
            joins: true,
            ..Self::calm(seed)
        }
    }

    fn wild(seed: u64) -> Self {
        let plan = Self::calm(seed);
        Self {
            machines: plan.machines.max(3),
            crashes: true,
            ..plan
        }
    }
}

fn main(orca: &Orca, plan: Plan) -> Result<(), Error> {
    let mut chance = Chance::new(plan.seed ^ 0xaaaa);
    let arrived = orca.create_at(Placement::Replicated, Arrived::default())?;
    let mut arrays = Vec::new();
    for _ in 0..chance.between(1, 2) {
        let shape = [chance.between(1, 7) as usize, chance.between(1, 5) as usize];
        let how = distribution(&mut chance, shape, &orca.machines());
        let array: Points = match orca.create_partitioned(shape, &how) {
            // A machine has crashed before.
            Err(Error::NoMachine(_)) if plan.crashes => continue,
            other => other?,
        };
        book().lock().shapes.insert(array.id(), shape);
        arrays.push(array);
    }
    if arrays.is_empty() {
        return Ok(());
    }
    if plan.joins {
        let joiner = orca.session().spawn("joiner", [""; 0], 1)?[0];
        while !orca.machines().contains(&joiner) {
            thread::sleep(std::time::Duration::from_millis(1));
        }
        for array in &arrays {
            let shape = book().lock().shapes[&array.id()];
            array.distribute(&distribution(&mut chance, shape, &orca.machines()))?;
        }
        // It is not counted below.
        let drawn = (plan.seed, 90, 12);
        let aside = orca.create(Arrived::default())?;
        user::fork(
            orca,
            On::Machine(joiner),
            arrays.clone(),
            aside.clone(),
            drawn,
        )?;
        aside.all(1)?;
    }
    let users = chance.between(1, 4);
    for process in 0..users {
        // Machines that may crash are not waited for, so they have none.
        let machine = if plan.crashes {
            0
        } else {
            process as u32 % plan.machines
        };
        let drawn = (plan.seed, process, 12);
        user::fork(
            orca,
            On::Machine(machine),
            arrays.clone(),
            arrived.clone(),
            drawn,
        )?;
    }
    arrived.all(users)
}

type Ended = Result<Option<Result<(), Error>>, Error>;

/// Runs a history.
fn run(plan: Plan, mutant: Option<Mutant>) -> Result<usize, String> {
    let mut chance = Chance::new(plan.seed ^ 0xfa17);
    let kind = [Kind::Datagrams, Kind::Streams, Kind::Bus, Kind::Multicast];
    let kind = kind[chance.below(4) as usize];
    let network = Network::new(
        kind,
        chance.below(60),
        chance.below(30),
        50,
        chance.below(2000),
    );
    let mut simulation = Simulation::of(plan.machines)
        .over(network)
        .seed(plan.seed)
        .limit(SECOND * 600);
    if plan.crashes {
        let at = std::time::Duration::from_micros(chance.between(20_000, 300_000));
        simulation = simulation.at(at, Trouble::Crash(plan.machines - 1));
    }
    let book = Arc::new(Mutex::new(Book {
        may_lose: plan.crashes,
        ..Book::default()
    }));
    BOOK.set(book.clone());
    let of_machines = book.clone();
    let run = move |session: &Session| -> Ended {
        let book = of_machines.clone();
        let program = Program {
            fault: Fault { mutant },
            trace: Some(Arc::new(move |executed, _, place, _| {
                book.lock().enter(&executed, place);
            })),
            ..Program::default()
        };
        program.run(session, move |orca| main(orca, plan))
    };
    let of_joiners = run.clone();
    let outcome = simulation
        .program("joiner", move |session: Session, _| of_joiners(&session))
        .run(move |session: Session| run(&session))
        .map_err(|error| error.to_string())?;
    if let Some(failure) = outcome.failure() {
        return Err(failure.to_string());
    }
    for (rank, end) in outcome.ends.iter().enumerate() {
        match end {
            End::Returned(Ok(None | Some(Ok(())))) | End::Crashed => {}
            // It may crash before the program begins.
            End::Returned(Err(Error::Panda(_))) if plan.crashes => {}
            End::Returned(Ok(Some(Err(error))) | Err(error)) => {
                return Err(format!("machine {rank}: {error}"));
            }
            other => return Err(format!("machine {rank}: {other:?}")),
        }
    }
    let book = book.lock();
    book.check()
}

fn hold(plans: impl Iterator<Item = Plan>) -> usize {
    let run = |plan| run(plan, None).unwrap_or_else(|fault| panic!("{plan:?}:\n{fault}"));
    plans.map(run).sum()
}

#[test]
fn histories_of_arrays_are_those_of_their_order() {
    let results = hold(super::seeds(60).map(Plan::calm));
    assert!(super::seeds(60).count() < 60 || results > 500, "{results}");
}

#[test]
fn histories_of_arrays_hold_when_a_machine_joins() {
    hold(super::seeds(30).map(Plan::joining));
}

#[test]
fn histories_of_arrays_end_when_an_owner_crashes() {
    hold(super::seeds(40).map(Plan::wild));
}

/// Checks that a fault is found, in one of so many seeds.
fn is_found(mutant: Mutant) {
    const SEEDS: u64 = 60;
    let found = (0..SEEDS).find_map(|seed| run(Plan::calm(seed), Some(mutant)).err());
    let fault = found.unwrap_or_else(|| panic!("{mutant:?} went unnoticed in {SEEDS} seeds"));
    println!("{mutant:?}: {}", fault.lines().next().unwrap_or_default());
}

macro_rules! mutants {
    ($($name:ident: $mutant:ident;)*) => { $(
        #[test]
        fn $name() {
            is_found(Mutant::$mutant);
        }
    )* };
}

mutants! {
    a_parallel_operation_that_sees_its_own_writes: SeesOwnWrites;
    a_stale_part_of_another_machine: SeesStaleParts;
    a_part_that_is_sent_before_its_place: SendsPartsEarly;
    a_part_as_it_is_now: ServesNewest;
    a_sequential_write_that_stays: KeepsWrittenParts;
    a_first_run_that_does_not_wait: RecordsAlone;
    an_end_with_the_first_share: EndsWithFirstShare;
}
