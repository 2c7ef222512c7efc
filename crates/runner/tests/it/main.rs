//! Children: their start and end, their limits, their input, and their remains.

mod orphans;
mod process;
mod run;
