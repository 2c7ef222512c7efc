//! Collective operations on arrays of numbers: their results at all lengths, and their errors where
//! processes disagree.

use antiphon_panda::{Communicator, Error, Number, Reduction, Session};

use super::{Make, run};

/// Lengths below and above the limit at which arrays are split, some of them divisible by no number
/// of processes.
const LENGTHS: [usize; 7] = [0, 1, 2, 3, 1000, 2049, 20_001];

/// One kind of reduction at one process.
struct Case<'a, T> {
    all: &'a Communicator,
    rank: u32,
    root: u32,
    /// The numbers of a process.
    of: fn(u32, usize) -> T,
}

impl<T: Number> Case<'_, T> {
    fn array(&self, rank: u32, length: usize) -> Vec<T> {
        (0..length).map(|at| (self.of)(rank, at)).collect()
    }

    /// Compares the reduction with a plain loop, at all lengths.
    fn is(&self, by: Reduction, combine: fn(T, T) -> T) {
        for length in LENGTHS {
            let mut expected = self.array(0, length);
            for rank in 1..self.all.ranks().len() as u32 {
                let others = self.array(rank, length).into_iter();
                let pairs = expected.iter_mut().zip(others);
                pairs.for_each(|(one, other)| *one = combine(*one, other));
            }
            let mut numbers = self.array(self.rank, length);
            self.all.all_reduce_numbers(&mut numbers, by).unwrap();
            assert!(numbers == expected, "{by:?} of {length} at all");
            let mut numbers = self.array(self.rank, length);
            let reduced = self.all.reduce_numbers(self.root, &mut numbers, by);
            reduced.unwrap();
            let is_root = self.rank == self.root;
            assert!(!is_root || numbers == expected, "{by:?} of {length}");
        }
    }
}

/// Every reduction of integers has the result of a plain loop, at any length, and with any members
/// and root.
pub fn numbers_are_reduced_as_by_a_loop(make: Make) {
    for size in [2, 3, 4] {
        run(make, size, move |session| {
            let all = &session.everyone().unwrap();
            let (rank, root) = (session.rank(), size - 1);
            let case = Case {
                all,
                rank,
                root,
                of: |rank, at| (rank as i64 + 3) * 0x1234_5678_9abc + at as i64 * 977,
            };
            case.is(Reduction::Sum, i64::wrapping_add);
            case.is(Reduction::Product, i64::wrapping_mul);
            case.is(Reduction::Xor, |a, b| a ^ b);
            let case = Case {
                all,
                rank,
                root: 0,
                of: |rank, at| (rank as u8 + 1).wrapping_mul(89) ^ at as u8,
            };
            case.is(Reduction::And, |a, b| a & b);
            case.is(Reduction::Or, |a, b| a | b);
            let case = Case {
                all,
                rank,
                root,
                of: |rank, at| (rank as f32 - 1.0) * (at % 1000) as f32,
            };
            case.is(Reduction::Least, f32::min);
            case.is(Reduction::Greatest, f32::max);
            all.barrier().unwrap();
        });
    }
}

/// Sums of floating-point numbers have the same bits at all processes. They equal the sums of a
/// function that combines alike. A function gets the numbers of lower ranks first.
pub fn all_get_the_same_bits(make: Make) {
    for size in [3, 4, 5] {
        let sums = run(make, size, |session| {
            let (rank, all) = (session.rank(), session.everyone().unwrap());
            let mut bits = Vec::new();
            for length in LENGTHS {
                let own = |at: usize| 0.1 * f64::from(rank + 1) + 1e10 / (at + 1) as f64;
                let mut sums: Vec<f64> = (0..length).map(own).collect();
                let mut again = sums.clone();
                all.all_reduce_numbers(&mut sums, Reduction::Sum).unwrap();
                let add = |into: &mut [f64], others: &[f64]| {
                    assert_eq!(into.len(), others.len());
                    into.iter_mut()
                        .zip(others)
                        .for_each(|(into, other)| *into += other);
                };
                all.all_reduce_numbers_with(&mut again, add).unwrap();
                let words = |all: &[f64]| all.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
                assert_eq!(words(&sums), words(&again));
                bits.push(words(&sums).into_iter().fold(1, |hash: u64, word| {
                    hash.wrapping_mul(31).wrapping_add(word)
                }));

                // Takes the later of two values, which is associative and not commutative.
                let mut last = vec![rank; length];
                let later = |into: &mut [u32], others: &[u32]| into.copy_from_slice(others);
                all.all_reduce_numbers_with(&mut last, later).unwrap();
                let size = session.size();
                assert!(last.iter().all(|it| *it == size - 1), "{length}");
                let mut last = vec![rank; length];
                all.reduce_numbers_with(1, &mut last, later).unwrap();
                assert!(rank != 1 || last.iter().all(|it| *it == 0), "{length}");
            }
            all.barrier().unwrap();
            bits
        });
        assert!(sums.windows(2).all(|two| two[0] == two[1]));
    }
}

/// If the arrays or the reductions of processes differ, all get an error that names the difference
/// and the process. The communicator stays usable.
pub fn arrays_that_differ_end_with_an_error(make: Make) {
    fn mismatch(session: &Session, outcome: Result<(), Error>, words: &str) {
        let error = outcome.unwrap_err();
        assert!(matches!(error, Error::Mismatch { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        // The error names the differing process, or that process gets it.
        let (words, name) = (error.to_string(), session.name_of(1));
        assert!(words.contains("rank 1") || words.contains(&name) || session.rank() == 1);
        session.everyone().unwrap().barrier().unwrap();
    }
    run(make, 3, |session| {
        let (rank, all) = (session.rank(), session.everyone().unwrap());
        let is_odd = rank == 1;
        for length in [5, 100_000] {
            let mut numbers = vec![1i32; if is_odd { length + 1 } else { length }];
            let outcome = all.all_reduce_numbers(&mut numbers, Reduction::Sum);
            mismatch(&session, outcome, "numbers where rank");

            let mut numbers = vec![1i32; length];
            let by = [Reduction::Sum, Reduction::Product][usize::from(is_odd)];
            let outcome = all.all_reduce_numbers(&mut numbers, by);
            mismatch(&session, outcome, "\"product\"");

            let mut floats = vec![1f32; length];
            let outcome = match is_odd {
                true => all.all_reduce_numbers(&mut floats, Reduction::Sum),
                false => all.all_reduce_numbers(&mut numbers, Reduction::Sum),
            };
            mismatch(&session, outcome, "f32");

            let outcome = match is_odd {
                true => all.barrier(),
                false => all.all_reduce_numbers(&mut numbers, Reduction::Sum),
            };
            mismatch(&session, outcome, "another operation");

            let panics = |_: &mut [i32], _: &[i32]| panic!("on purpose");
            let error = all
                .all_reduce_numbers_with(&mut numbers, panics)
                .unwrap_err();
            assert!(matches!(error, Error::Panicked { .. }), "{error}");
            all.barrier().unwrap();
        }
        let refused = all.all_reduce_numbers(&mut [1.5], Reduction::Or);
        assert!(matches!(refused, Err(Error::NoSuchReduction { .. })));
        all.barrier().unwrap();
    });
}

/// Reductions to changing roots run ahead of a late process, up to twice the bound. The late
/// process still gets its own results.
pub fn reductions_may_run_ahead(make: Make) {
    run(make, 3, |session| {
        let (rank, all) = (session.rank(), session.everyone().unwrap());
        if rank == 0 {
            antiphon_panda::thread::sleep(std::time::Duration::from_millis(50));
        }
        for number in 0..1000 {
            let root = number / 300 % 3;
            let mut numbers = [number + rank, 1];
            all.reduce_numbers(root, &mut numbers, Reduction::Sum)
                .unwrap();
            assert!(rank != root || numbers == [3 * number + 3, 3]);
        }
        all.barrier().unwrap();
    });
}
