//! How results are shown: tables, plots, one self-contained HTML page, XLSX, CSV, JSON, Markdown.
