//! Functions and macros that operations must not use, because their values differ between machines.

use syn::visit::{self, Visit};
use syn::{Macro, Path};

const MACROS: [&str; 5] = ["println", "print", "eprintln", "eprint", "dbg"];
/// Modules whose functions depend on the machine.
const MODULES: [&str; 7] = ["fs", "net", "env", "rand", "fastrand", "getrandom", "io"];
/// Types and functions that depend on the machine, at any path.
const NAMES: [&str; 13] = [
    "File",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "Command",
    "stdin",
    "stdout",
    "stderr",
    "thread_rng",
    "OsRng",
    "ThreadRng",
    "RandomState",
    "available_parallelism",
];
const CLOCKS: [&str; 3] = ["Instant", "SystemTime", "thread"];

/// Finds the first use of a forbidden name.
#[derive(Default)]
pub struct Finder {
    /// The reason to refuse the body.
    pub found: Option<syn::Error>,
}

impl Finder {
    fn refuse(&mut self, at: &impl quote::ToTokens, what: &str) {
        let why = format!(
            "{what} differs from machine to machine, so replicas of the object would differ: mark the operation #[io], and its objects have one copy; or pass the value as an argument"
        );
        self.found
            .get_or_insert_with(|| syn::Error::new_spanned(at, why));
    }
}

impl Visit<'_> for Finder {
    fn visit_macro(&mut self, item: &Macro) {
        if let Some(name) = item.path.segments.last()
            && MACROS.iter().any(|it| name.ident == it)
        {
            self.refuse(&item.path, &format!("what {}! does", name.ident));
        }
        visit::visit_macro(self, item);
    }

    fn visit_path(&mut self, path: &Path) {
        let names: Vec<_> = path
            .segments
            .iter()
            .map(|it| it.ident.to_string())
            .collect();
        let whole = names.join("::");
        let in_module = names
            .iter()
            .rev()
            .skip(1)
            .any(|it| MODULES.contains(&it.as_str()));
        let is_named = names.iter().any(|it| NAMES.contains(&it.as_str()));
        let is_clock = names.windows(2).any(|pair| {
            let call = pair[1].as_str();
            CLOCKS.contains(&pair[0].as_str()) && matches!(call, "now" | "sleep" | "current")
        });
        if in_module || is_named || is_clock {
            self.refuse(path, &whole);
        }
        visit::visit_path(self, path);
    }
}
