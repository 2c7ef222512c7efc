//! The attributes of `antiphon-orca`: object types from structs and their impl blocks, and
//! processes from functions. They are documented there.

use proc_macro::TokenStream;

mod elements;
mod forbidden;
mod operation;
mod process;
mod structure;
#[cfg(test)]
mod tests;

/// Makes a struct the state of shared objects, and the methods of its impl block their operations.
///
/// Mark both the struct and one impl block. The struct needs `Clone`, `Serialize` and
/// `Deserialize`. Mark fields with `#[nested]` if they hold other objects whose operations may
/// block.
///
/// In the block, `&self` methods read and `&mut self` methods write. Functions without `self` are
/// not operations. Put methods that are not operations into another, unmarked impl block.
///
/// | on a method | |
/// |---|---|
/// | `#[guard(expression)]` | blocks the operation, without effect, until the expression is true. It may use `self` and the arguments |
/// | `#[operation(name)]` | makes the method one alternative of the operation `name`. Alternatives that read are tried first, each kind in its order |
/// | `#[io]` | allows clocks, random numbers, input and output. Such objects have one copy |
///
/// Arguments and results are values that serde can encode. If an operation returns a `Result`, its
/// caller gets it inside the run-time's own `Result`.
#[proc_macro_attribute]
pub fn object(arguments: TokenStream, item: TokenStream) -> TokenStream {
    give(expand_object(arguments.into(), item.into()))
}

/// Makes a type the element of partitioned arrays with 1 to 3 dimensions, with the operations of
/// its impl block. The type needs `Clone`, `Serialize` and `Deserialize`.
///
/// | on a method | |
/// |---|---|
/// | `#[parallel]` | runs once an element, on the machine that owns it, all as one step. Takes `&self` or `&mut self`, the element; then, if it looks at others, `&View<Self, D>`, which shows all elements as they were before; then arguments, as values or references |
/// | `#[gather]` | the results of a parallel operation become a `Gathered<R, D>` |
/// | `#[reduce(function)]` | the results of a parallel operation are combined, two at a time, in a fixed order |
/// | `#[sequential]` | runs once, on one machine. Takes `&Whole<Self, D>` or `&mut Whole<Self, D>`, and arguments |
/// | `#[initial]` | makes an element, of its index and the shape of the array. Else elements begin with their default values |
///
/// `#[reads(…)]` declares which elements of other machines an operation reads:
///
/// | | |
/// |---|---|
/// | `own` | nothing. The default without a view |
/// | `whole` | anything: the owners exchange the whole array before. The default with a view |
/// | `declared = function` | what `fn(at: [usize; D], shape: [usize; D]) -> impl IntoIterator<Item = [usize; D]>` returns for each element. It is asked once a distribution, on all machines. Indices outside of the array are left out |
/// | `declared_by_call = function` | the same, of the arguments, too, as references: each machine asks it in each call, and fetches the parts before |
/// | `recorded` | what the first run after each distribution reads. Later runs have it sent before |
/// | `on_demand` | anything: parts are fetched when they are read |
///
/// Machines exchange whole parts.
#[proc_macro_attribute]
pub fn elements(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let block = syn::parse(item);
    give(block.and_then(|block| elements::expand(arguments.into(), block)))
}

/// Makes a function a process, which can be forked on any machine.
///
/// The function may take `&Orca` first. All other parameters are values that serde can encode, and
/// [`Shared`](../orca/struct.Shared.html) objects, anywhere within them. The function returns
/// nothing, or a `Result<(), E>` with an error that can be printed. The attribute adds
/// `NAME::fork(orca, on, …)`, which takes the same arguments.
#[proc_macro_attribute]
pub fn process(arguments: TokenStream, item: TokenStream) -> TokenStream {
    give(process::expand(&arguments.into(), item.into()))
}

fn give(expanded: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    expanded
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

fn expand_object(
    arguments: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> syn::Result<proc_macro2::TokenStream> {
    if !arguments.is_empty() {
        return Err(syn::Error::new_spanned(
            arguments,
            "#[orca::object] takes no arguments",
        ));
    }
    match syn::parse2(item)? {
        syn::Item::Struct(item) => structure::expand(item),
        syn::Item::Impl(item) => operation::expand(item),
        other => Err(syn::Error::new_spanned(
            other,
            "#[orca::object] is for a struct, the state, and for its impl block, the operations",
        )),
    }
}
