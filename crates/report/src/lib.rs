//! Presentation of results: tables, plots, one self-contained HTML page, XLSX, CSV, JSON, Markdown.
//!
//! A run becomes a neutral [`document::Document`] by [`compose`]; each exporter in [`export`] turns
//! a document into one format.
//!
//! ```
//! # let run = antiphon_lab::RunRecord { id: 1, suite: "features".into(), suite_toml: String::new(), started: String::new(),
//! #     ended: None, quick: true, asked: None, machine: Default::default(), subjects: vec![], results: vec![], warnings: vec![] };
//! let document = antiphon_report::compose(&run);
//! let page = antiphon_report::export::html::render(&document);
//! assert!(page.starts_with("<!DOCTYPE html>"));
//! ```

pub mod comparison;
mod compose;
pub mod document;
pub mod export;
mod grouped;
pub mod layout;
pub mod number;

pub use compose::{
    agrees, compose, compose_agreement, compose_comparison, compose_memory, compose_together,
    compose_with, headlines_of,
};
