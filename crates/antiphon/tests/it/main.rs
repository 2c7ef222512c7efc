//! The command as a user runs it: what each verb does, says, refuses, and leaves behind.

mod common;
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
mod profiling;
mod rendezvous;
mod sr;
