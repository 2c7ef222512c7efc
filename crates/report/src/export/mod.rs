//! Exporters, one a file. `html`, `xlsx`, `markdown` and `text` show a document; `json` and `csv`
//! give the record itself to programs.

pub mod csv;
pub mod html;
pub mod json;
pub mod live;
pub mod markdown;
pub mod text;
pub mod xlsx;

mod cells;
mod headlines;
mod looks;
