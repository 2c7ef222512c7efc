//! Programs of shared objects over real platforms.

mod arrays;
mod by_hand;
mod objects;
mod observed;
mod platforms;
mod programs;
mod refused;
