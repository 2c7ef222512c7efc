//! Children: how they start and end, what they may use, what is said to them, and what is left of
//! them.

mod orphans;
mod process;
mod run;
