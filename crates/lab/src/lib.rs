//! What is measured and where results are kept: suites, subjects, plans, runs, the store.
