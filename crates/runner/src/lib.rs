//! Child processes: start, pin, limit, time out, account for, and clean up after, even when we are killed.
