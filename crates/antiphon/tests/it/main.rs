//! The command as a user runs it: effects, messages, refusals and leftovers of each verb.

mod anywhere;
mod common;
mod documents;
mod hostile;
mod hosts;
mod killing;
mod launch_signals;
mod launching;
mod layer;
mod libraries;
mod loading;
mod measure_options;
mod measuring;
mod misuse;
mod models;
mod next_steps;
mod orca;
mod original_sr;
mod profiling;
mod pvm;
mod rendezvous;
mod sr;
mod translating;
mod tutorials;
