//! Partitioned arrays over any platform.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};

use antiphon_panda::Session;
use antiphon_panda::message::value_in;
use orca::partitioned::{
    Access, ArrayBody, ArrayOperation, ArrayType, Part, PartCodec, Ran, Reads, register_array,
};
use orca::{Distribution, Error, On, Orca, Partitioned, Shared, Spread, View, Whole};
use serde::{Deserialize, Serialize};

use crate::objects::Counter;
use crate::platforms::{local, result, run};

type Sessions = fn(u32) -> Vec<Session>;

/// An element of a ring of numbers, and of a box of three dimensions.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Number(u64);

#[orca::elements(1)]
impl Number {
    #[initial]
    fn initial([at]: [usize; 1], _: [usize; 1]) -> Self {
        Self(at as u64)
    }

    /// Moves all elements by one. This works only if all see the state before.
    #[parallel]
    #[reads(declared = before)]
    fn turn(&mut self, ring: &View<'_, Self, 1>) {
        let [from] = before(ring.at(), ring.shape());
        self.0 = ring[from].0;
    }

    #[parallel]
    #[gather]
    fn values(&self) -> u64 {
        self.0
    }

    /// It declares one neighbour, and reads the other.
    #[parallel]
    #[reads(declared = before)]
    fn lies(&mut self, ring: &View<'_, Self, 1>) {
        let [at] = ring.at();
        self.0 = ring[[(at + 1) % ring.shape()[0]]].0;
    }

    #[parallel]
    fn explodes(&mut self, ring: &View<'_, Self, 1>, at: usize) {
        assert!(ring.at() != [at], "at {at}");
        self.0 += 1;
    }

    #[sequential]
    #[reads(on_demand)]
    fn swap(ring: &mut Whole<'_, Self, 1>, one: usize, other: usize) -> (u64, u64) {
        let values = (ring[[one]].0, ring[[other]].0);
        (ring[[one]].0, ring[[other]].0) = (values.1, values.0);
        values
    }

    #[sequential]
    fn sum(ring: &Whole<'_, Self, 1>) -> u64 {
        ring.indices().map(|at| ring[at].0).sum()
    }
}

fn before([at]: [usize; 1], [length]: [usize; 1]) -> [[usize; 1]; 1] {
    [[(at + length - 1) % length]]
}

type Ring = Partitioned<Number, 1>;

/// Turns rings of several distributions, and changes the distribution on the way.
pub fn all_elements_see_the_state_before(sessions: Sessions) {
    for machines in 1..=4 {
        let turned = result(sessions(machines), |orca| {
            let machines = orca.machines();
            let mut turned = Vec::new();
            for parts in [1, 4, 10] {
                for how in [
                    Distribution::block(&[parts], &machines),
                    Distribution::cyclic(&[parts], &machines),
                ] {
                    let ring: Ring = orca.create_partitioned([10], &how)?;
                    for _ in 0..3 {
                        ring.turn()?;
                    }
                    ring.distribute(&Distribution::cyclic(&[7], &machines))?;
                    ring.turn()?;
                    ring.swap(0, 9)?;
                    assert_eq!(ring.sum()?, 45);
                    turned.push(ring.values()?.into_values());
                    ring.distribute_anew(&how)?;
                    assert_eq!(ring.values()?[[3]], 3);
                }
            }
            Ok(turned)
        });
        for turned in turned {
            assert_eq!(
                turned,
                [5, 7, 8, 9, 0, 1, 2, 3, 4, 6],
                "{machines} machines"
            );
        }
    }
}

/// An element of a box.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Voxel(u64);

fn corner([x, y, z]: [usize; 3], _: [usize; 3]) -> [[usize; 3]; 1] {
    [[x.wrapping_sub(1), y.wrapping_sub(1), z.wrapping_sub(1)]]
}

#[orca::elements(3)]
impl Voxel {
    #[initial]
    fn initial([x, y, z]: [usize; 3], _: [usize; 3]) -> Self {
        Self((x * 100 + y * 10 + z) as u64)
    }

    #[parallel]
    #[reads(declared = corner)]
    fn shift(&mut self, all: &View<'_, Self, 3>) {
        let [from] = corner(all.at(), all.shape());
        self.0 = all.get(from).map_or(0, |it| it.0);
    }

    #[parallel]
    #[gather]
    fn values(&self, plus: u64) -> u64 {
        self.0 + plus
    }

    #[parallel]
    #[reduce(u64::max)]
    fn most(&self) -> u64 {
        self.0
    }
}

#[test]
fn an_array_may_have_three_dimensions() {
    let (value, most) = result(local(4), |orca| {
        let along = [(2, Spread::Block), (1, Spread::Block), (2, Spread::Cyclic)];
        let how = Distribution::grid(&[2, 2, 3], &orca.machines(), &along);
        let voxels: Partitioned<Voxel, 3> = orca.create_partitioned([3, 4, 5], &how)?;
        voxels.shift()?;
        let values = voxels.values(1000)?;
        assert_eq!(values.shape(), [3, 4, 5]);
        Ok((values[[2, 3, 4]], voxels.most()?))
    });
    assert_eq!((value, most), (1123, 123));
}

#[orca::process]
fn turner(ring: Ring, done: Shared<Counter>, turns: u32) -> Result<(), Error> {
    (0..turns).try_for_each(|_| ring.turn())?;
    done.add(1)
}

/// Processes on all machines turn one ring, and each has one of its own, too.
pub fn processes_share_arrays(sessions: Sessions) {
    let (shared, own) = result(sessions(3), |orca| {
        let machines = orca.machines();
        let done = orca.create(Counter::default())?;
        let how = Distribution::block(&[3], &machines);
        let shared: Ring = orca.create_partitioned([12], &how)?;
        let mut own = Vec::new();
        for machine in &machines {
            // On two of the machines, so that rings overlap.
            let on = [*machine, (machine + 1) % 3];
            let ring: Ring = orca.create_partitioned([5], &Distribution::cyclic(&[4], &on))?;
            turner::fork(orca, On::Machine(*machine), shared.clone(), done.clone(), 5)?;
            turner::fork(orca, On::Machine(*machine), ring.clone(), done.clone(), 6)?;
            own.push(ring);
        }
        done.await_at_least(6)?;
        let own = own.iter().map(|it| Ok(it.values()?.into_values()));
        Ok((
            shared.values()?.into_values(),
            own.collect::<Result<Vec<_>, Error>>()?,
        ))
    });
    assert_eq!(shared[..4], [9, 10, 11, 0]);
    assert_eq!(own, vec![[4, 0, 1, 2, 3]; 3]);
}

#[test]
fn a_read_that_is_not_declared_is_an_error() {
    let said = result(local(2), |orca| {
        let ring: Ring =
            orca.create_partitioned([6], &Distribution::block(&[6], &orca.machines()))?;
        let first = ring.lies().expect_err("it reads what it does not declare");
        let second = ring.turn().expect_err("it is broken");
        Ok([first.to_string(), second.to_string()])
    });
    let why = "it reads part 3, which begins at [3], and does not declare that";
    assert!(
        said[0].contains("operation lies of object") && said[0].contains(why),
        "{said:?}"
    );
    assert!(said[1].contains("broken"), "{said:?}");
}

#[test]
fn an_operation_that_panics_breaks_its_array_alone() {
    let said = result(local(3), |orca| {
        let how = Distribution::block(&[3], &orca.machines());
        let rings: [Ring; 2] = [
            orca.create_partitioned([6], &how)?,
            orca.create_partitioned([6], &how)?,
        ];
        let first = rings[0].explodes(3).expect_err("it panics");
        let second = rings[0].values().expect_err("it is broken");
        assert_eq!(rings[1].sum()?, 15);
        Ok([first.to_string(), second.to_string()])
    });
    assert!(
        said[0].contains("operation explodes of object array#"),
        "{said:?}"
    );
    assert!(said[0].contains("at 3"), "{said:?}");
    assert!(said[1].contains("broken"), "{said:?}");
}

#[orca::process]
fn wrong(voxels: Partitioned<Voxel, 3>, done: Shared<Counter>) -> Result<(), Error> {
    voxels.shift()?;
    done.add(1)
}

#[test]
fn what_does_not_fit_is_refused() {
    let said = result(local(1), |orca| {
        let ring = |how: &Distribution| orca.create_partitioned::<Number, 1>([6], how);
        let refused = [
            ring(&Distribution::block(&[7], &[0])).expect_err("7 parts of 6"),
            ring(&Distribution::block(&[2], &[5])).expect_err("no machine 5"),
            ring(&Distribution::block(&[2, 1], &[0])).expect_err("two dimensions"),
        ];
        let ring = ring(&Distribution::block(&[2], &[0]))?;
        let refused = refused.map(|it| it.to_string());
        assert!(refused[0].contains("has 1 to 6 parts"), "{refused:?}");
        assert!(refused[1].contains("no machine 5"), "{refused:?}");
        assert!(refused[2].contains("as many counts"), "{refused:?}");
        let outside = ring.swap(0, 6).expect_err("it has 6 elements");
        Ok(outside.to_string())
    });
    assert!(
        said.contains("[6] is outside of the array, which has [6]"),
        "{said}"
    );
}

#[test]
fn an_array_of_another_type_is_refused() {
    let mut ended = run(local(1), |orca| {
        let ring: Ring = orca.create_partitioned([6], &Distribution::block(&[2], &[0]))?;
        let done = orca.create(Counter::default())?;
        orca.fork(On::Machine(0), wrong::NAME, &(ring, done))
    });
    let ended = ended.pop().expect("a machine");
    let said = ended.expect_err("its process failed").to_string();
    assert!(
        said.contains("arguments do not fit") && said.contains("it::arrays::Voxel"),
        "{said}"
    );
}

/// Numbers in the form of generated code: a part is a vector, and the tables are closures.
fn by_hand() -> &'static ArrayType {
    static TYPE: OnceLock<&ArrayType> = OnceLock::new();
    fn numbers(part: &Part) -> &Vec<i64> {
        part.downcast_ref().expect("a part of this type")
    }
    fn double(access: &Access<'_>, parts: &[usize], bytes: &[u8]) -> Vec<Ran> {
        let by: i64 = value_in(bytes).expect("a number");
        let double = |part: &usize| {
            let doubled: Vec<_> = numbers(&**access.part(*part))
                .iter()
                .map(|it| it * by)
                .collect();
            let sum: i64 = doubled.iter().sum();
            Ran {
                written: Some(Arc::new(doubled)),
                result: sum.to_le_bytes().to_vec(),
            }
        };
        parts.iter().map(double).collect()
    }
    TYPE.get_or_init(|| {
        let array_type = ArrayType {
            name: "numbers by hand".into(),
            dimensions: 1,
            codec: PartCodec {
                begin: Box::new(|plan, part| Arc::new(vec![1_i64; plan.blocks()[part].size()])),
                encode: Box::new(|part| {
                    Ok(numbers(part)
                        .iter()
                        .flat_map(|it| it.to_le_bytes())
                        .collect())
                }),
                decode: Box::new(|bytes| {
                    let each = bytes
                        .chunks_exact(8)
                        .map(|it| it.try_into().expect("eight bytes"));
                    Ok(Arc::new(each.map(i64::from_le_bytes).collect::<Vec<_>>()))
                }),
                regroup: Box::new(|access, plan, part| {
                    let of = |index| {
                        let (part, at) = access.plan().find(index).expect("within");
                        numbers(&**access.part(part))[at]
                    };
                    Arc::new(plan.blocks()[part].indices().map(of).collect::<Vec<_>>())
                }),
            },
            operations: vec![ArrayOperation {
                name: "double".into(),
                body: ArrayBody::Parallel {
                    reads: Reads::Own,
                    run: Box::new(|access, parts, bytes| Ok(double(access, parts, bytes))),
                },
            }],
        };
        register_array(array_type).unwrap_or_else(|it| panic!("two {}", it.name))
    })
}

#[test]
fn a_table_made_at_run_time_is_executed_on_parts() {
    by_hand();
    let sums = result(local(2), |orca: &Orca| {
        let how = Distribution::block(&[3], &orca.machines());
        let numbers = orca.create_array_raw(by_hand(), &[7], &how)?;
        numbers.invoke(0, &3_i64)?;
        numbers.distribute(&Distribution::cyclic(&[2], &orca.machines()), true)?;
        let (plan, results) = numbers.invoke(0, &2_i64)?;
        assert_eq!(plan.blocks().len(), 2);
        let number = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        Ok(results
            .iter()
            .map(|(_, bytes)| number(bytes))
            .collect::<Vec<_>>())
    });
    assert_eq!(sums, [24, 18]);
}

/// The elements of [`Counted`] that there are now, and the most that there were.
static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// An element that counts its copies. Machines that are threads need not encode it.
#[derive(Serialize, Deserialize)]
struct Counted(u64);

impl Counted {
    fn one(value: u64) -> Self {
        MOST.fetch_max(LIVE.fetch_add(1, SeqCst) + 1, SeqCst);
        Self(value)
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Self::one(self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, SeqCst);
    }
}

#[orca::elements(1)]
impl Counted {
    #[initial]
    fn initial([at]: [usize; 1], _: [usize; 1]) -> Self {
        Self::one(at as u64)
    }

    #[parallel]
    #[reads(declared = before)]
    fn follow(&mut self, ring: &View<'_, Self, 1>) {
        let [from] = before(ring.at(), ring.shape());
        self.0 = ring[from].0;
    }

    #[parallel]
    #[reduce(u64::max)]
    fn first(&self, ring: &View<'_, Self, 1>) -> u64 {
        match ring.at() {
            [0] => self.0,
            _ => 0,
        }
    }
}

#[test]
fn old_parts_are_dropped_before_an_operation_ends() {
    const PARTS: usize = 256;
    let first = result(local(1), |orca| {
        let how = Distribution::block(&[PARTS], &orca.machines());
        let ring: Partitioned<Counted, 1> = orca.create_partitioned([PARTS], &how)?;
        for _ in 0..3 {
            ring.follow()?;
        }
        ring.first()
    });
    assert_eq!(first, PARTS as u64 - 3);
    let most = MOST.load(SeqCst);
    assert!(most < PARTS * 5 / 4, "{most} copies of {PARTS} elements");
}
