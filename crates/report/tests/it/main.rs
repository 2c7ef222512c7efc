//! Reports: documents composed of runs, and their form in each format.

mod browser;
mod charts;
mod claims;
mod cold;
mod curves;
mod document;
mod edges;
mod exporters;
mod growth;
mod headlines;
mod lines;
mod load;
mod models;
mod pages;
mod programs;
mod sample;
mod savings;
mod together;
mod typical;
mod workbook;
