//! Object types and processes without Rust types: tables made at run time, as generated code makes
//! them.

use std::sync::OnceLock;

use antiphon_panda::message::value_in;
use bytes::Bytes;
use orca::{
    Alternative, Body, Codec, Error, Handle, ObjectType, On, Operation, Orca, Placement, State,
    Step,
};

use crate::platforms::{local, result};

fn number(state: &State) -> i64 {
    *state.downcast_ref::<i64>().expect("its codec")
}

fn writes(
    guard: Option<&str>,
    body: impl Fn(&mut i64, i64) -> Step + Send + Sync + 'static,
) -> Alternative {
    Alternative {
        guard: guard.map(str::to_owned),
        may_undo: true,
        body: Body::Writes(Box::new(move |state, bytes| {
            let state = state.downcast_mut::<i64>().expect("its codec");
            Ok(body(state, value_in(bytes)?))
        })),
    }
}

fn operation(name: &str, alternatives: Vec<Alternative>) -> Operation {
    Operation {
        name: name.into(),
        alternatives,
        has_result: true,
        does_io: false,
    }
}

fn done(value: i64) -> Step {
    Step::Done(value.to_le_bytes().to_vec())
}

/// A number whose `take` has a guard that changes the state, and a body that may block.
fn tank() -> &'static ObjectType {
    static TANK: OnceLock<&ObjectType> = OnceLock::new();
    TANK.get_or_init(|| {
        let codec = Codec {
            encode: Box::new(|state| Ok(number(state).to_le_bytes().to_vec())),
            decode: Box::new(|bytes| {
                let bytes = bytes.try_into().unwrap_or_default();
                Ok(Box::new(i64::from_le_bytes(bytes)))
            }),
            copy: Box::new(|state| Box::new(number(state))),
        };
        let take = vec![
            writes(Some("it empties a full tank"), |state, _| {
                *state += 1000;
                Step::Closed
            }),
            writes(Some("it has enough"), |state, amount| {
                *state -= amount;
                if *state < 0 {
                    Step::Blocked
                } else {
                    done(*state)
                }
            }),
        ];
        let fill = writes(None, |state, amount| {
            *state += amount;
            done(*state)
        });
        let operations = vec![operation("take", take), operation("fill", vec![fill])];
        orca::register(ObjectType::new("Tank", codec, operations))
            .unwrap_or_else(|it| panic!("two {}", it.name()))
    })
}

fn invoke(tank: &Handle, operation: usize, amount: i64) -> Result<i64, Error> {
    let arguments = antiphon_panda::Message::of(&amount)
        .expect("a number")
        .to_bytes();
    let result = tank.invoke_raw(operation, arguments)?;
    Ok(i64::from_le_bytes(
        result.as_ref().try_into().expect("eight bytes"),
    ))
}

#[test]
fn a_table_made_at_run_time_blocks_without_effect() {
    orca::register_process("taker", |orca, arguments| {
        let (tank, amount): (Handle, i64) = arguments.decode()?;
        assert_eq!(orca.machine(), 1);
        let left = invoke(&tank, 0, amount).map_err(|error| error.to_string())?;
        assert_eq!(left, 0);
        // The process that forked this one waits for it.
        invoke(&tank, 1, 100)
            .map(drop)
            .map_err(|error| error.to_string())
    });
    let main = |orca: &Orca| {
        let mut left = Vec::new();
        for placement in [Placement::Replicated, Placement::Owned(1)] {
            let state = Bytes::copy_from_slice(&5_i64.to_le_bytes());
            let tank = orca.create_raw(tank(), placement, state)?;
            left.push(invoke(&tank, 0, 4)?);
            orca.fork(On::Machine(1), "taker", &(tank.clone(), 10_i64))?;
            for _ in 0..3 {
                left.push(invoke(&tank, 1, 3)?);
            }
            left.push(invoke(&tank, 0, 100)?);
        }
        Ok(left)
    };
    let left = result(local(2), main);
    // 1 is left of 5; then come 4, 7 and 10, of which 10 are taken. Each guard's own change is
    // undone.
    assert_eq!(left, [1, 4, 7, 10, 0, 1, 4, 7, 10, 0]);
}
