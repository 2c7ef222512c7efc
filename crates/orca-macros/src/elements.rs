//! The operations of partitioned arrays.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, Expr, FnArg, ImplItem, ImplItemFn, ItemImpl, LitInt, Pat, PatType, Path, ReturnType,
    Token, Type,
};

use crate::operation::{MOST_PARAMETERS, check_type, take};

const MOST_DIMENSIONS: usize = 3;

/// The elements that an operation reads, from `#[reads(…)]`.
enum Reads {
    Own,
    Whole,
    Recorded,
    OnDemand,
    Declared(Path),
    DeclaredByCall(Path),
}

impl Parse for Reads {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let word: Ident = input.parse()?;
        let function = || -> syn::Result<Path> {
            input.parse::<Token![=]>()?;
            input.parse()
        };
        match word.to_string().as_str() {
            "own" => Ok(Self::Own),
            "whole" => Ok(Self::Whole),
            "recorded" => Ok(Self::Recorded),
            "on_demand" => Ok(Self::OnDemand),
            "declared" => Ok(Self::Declared(function()?)),
            "declared_by_call" => Ok(Self::DeclaredByCall(function()?)),
            _ => Err(syn::Error::new_spanned(
                word,
                "an operation reads own, whole, recorded, on_demand, declared = FUNCTION or declared_by_call = FUNCTION",
            )),
        }
    }
}

/// The way to combine the results of elements.
enum Collect {
    Nothing,
    Gather,
    Reduce(Box<Expr>),
}

enum Kind {
    /// Runs once an element. `views`: it takes a view. `writes`: it writes its element.
    Parallel { views: bool, writes: bool },
    /// Runs once. `writes`: it may write.
    Sequential { writes: bool },
}

/// A parameter: its name, its type, and whether the method takes a reference to it.
type Parameter = (Ident, Type, bool);

struct Operation {
    item: ImplItemFn,
    kind: Kind,
    reads: Reads,
    collect: Collect,
    parameters: Vec<Parameter>,
    result: Type,
}

/// Makes the methods of a block the operations of an array.
pub fn expand(dimensions: TokenStream, block: ItemImpl) -> syn::Result<TokenStream> {
    let dimensions: LitInt = syn::parse2(dimensions.clone()).map_err(|_| {
        let why = "say how many dimensions the arrays have: #[orca::elements(2)]";
        syn::Error::new_spanned(&block.self_ty, why)
    })?;
    let count: usize = dimensions.base10_parse()?;
    if !(1..=MOST_DIMENSIONS).contains(&count) {
        let why = format!("arrays have 1 to {MOST_DIMENSIONS} dimensions");
        return Err(syn::Error::new_spanned(dimensions, why));
    }
    if let Some((_, path, _)) = &block.trait_ {
        let why = "operations are methods of the type itself, not of a trait";
        return Err(syn::Error::new_spanned(path, why));
    }
    let self_type = &block.self_ty;
    let name = match &**self_type {
        Type::Path(path) if block.generics.params.is_empty() => path.path.get_ident().cloned(),
        _ => None,
    };
    let why = "the name of a type is expected, without parameters: it is the same on all machines";
    let name = name.ok_or_else(|| syn::Error::new_spanned(self_type, why))?;
    let (mut others, mut operations, mut initial) = (Vec::new(), Vec::new(), None);
    for item in block.items {
        let ImplItem::Fn(mut method) = item else {
            others.push(item);
            continue;
        };
        if take(&mut method.attrs, "initial")?.is_some() {
            initial = Some(method.sig.ident.clone());
        } else if let Some(operation) = Operation::parse(&mut method)? {
            operations.push(operation);
        }
        others.push(ImplItem::Fn(method));
    }
    if operations.is_empty() {
        let why =
            "this block has no operations: mark methods #[parallel], or functions #[sequential]";
        return Err(syn::Error::new_spanned(self_type, why));
    }
    let begin = match initial {
        Some(initial) => quote!(|at, shape| <#name>::#initial(at, shape)),
        None => quote!(|_, _| <#name as ::core::default::Default>::default()),
    };
    let proxy = format_ident!("{name}Array");
    let attributes = &block.attrs;
    let tables = operations.iter().map(|it| it.table(&name, &dimensions));
    let calls = operations.iter().enumerate();
    let calls = calls.map(|(index, it)| it.call(index, &dimensions));
    let doc = format!("The operations of partitioned arrays of [`{name}`].");
    Ok(quote! {
        #(#attributes)*
        impl #self_type {
            #(#others)*
        }

        #[doc = #doc]
        #[derive(Clone, Debug)]
        pub struct #proxy(::orca::partitioned::Array);

        #[allow(private_interfaces, dead_code, clippy::too_many_arguments)]
        impl #proxy {
            #(#calls)*
        }

        impl ::core::convert::From<::orca::partitioned::Array> for #proxy {
            fn from(array: ::orca::partitioned::Array) -> Self {
                Self(array)
            }
        }

        impl ::core::convert::AsRef<::orca::partitioned::Array> for #proxy {
            fn as_ref(&self) -> &::orca::partitioned::Array {
                &self.0
            }
        }

        const _: () = {
            use ::orca::private::arrays;

            static MADE: ::std::sync::OnceLock<::orca::partitioned::ArrayType> = ::std::sync::OnceLock::new();
            static TYPE: arrays::RegisteredArrayType = arrays::RegisteredArrayType { make, made: &MADE };

            fn make() -> ::orca::partitioned::ArrayType {
                arrays::array_type::<#name, #dimensions>(
                    ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)),
                    arrays::beginning::<#name, #dimensions>(#begin),
                    ::std::vec![#(#tables),*],
                )
            }

            ::orca::private::inventory::submit! {
                arrays::RegisteredArrayType { make, made: &MADE }
            }

            impl ::orca::Element<#dimensions> for #name {
                type Proxy = #proxy;
                fn array_type() -> &'static ::orca::partitioned::ArrayType {
                    TYPE.get()
                }
            }
        };
    })
}

impl Operation {
    /// Removes the marks from a method, if it is an operation.
    fn parse(item: &mut ImplItemFn) -> syn::Result<Option<Self>> {
        let is_parallel = take(&mut item.attrs, "parallel")?.is_some();
        let is_sequential = take(&mut item.attrs, "sequential")?.is_some();
        let reads = take(&mut item.attrs, "reads")?;
        let reads = reads.map(|it| it.parse_args::<Reads>()).transpose()?;
        let gathers = take(&mut item.attrs, "gather")?.is_some();
        let reduces = take(&mut item.attrs, "reduce")?;
        let reduces = reduces.map(|it| it.parse_args::<Expr>()).transpose()?;
        let signature = &item.sig;
        let refused = |why: &str| Err(syn::Error::new_spanned(signature, why));
        if !is_parallel && !is_sequential {
            return match reads.is_some() || gathers || reduces.is_some() {
                true => refused("mark the operation #[parallel] or #[sequential]"),
                false => Ok(None),
            };
        }
        if is_parallel && is_sequential {
            return refused("an operation is either #[parallel] or #[sequential]");
        }
        if signature.asyncness.is_some() || !signature.generics.params.is_empty() {
            return refused(
                "an operation is no async function, and has no parameters of types or lifetimes",
            );
        }
        let mut typed = signature.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) => Some(typed),
            FnArg::Receiver(_) => None,
        });
        let kind = match is_parallel {
            true => {
                let receiver = signature.receiver().filter(|it| it.reference.is_some());
                let Some(receiver) = receiver else {
                    return refused("a parallel operation takes &self or &mut self: its element");
                };
                let views = typed
                    .clone()
                    .next()
                    .is_some_and(|it| refers_to(it, "View").is_some());
                if views {
                    typed.next();
                }
                Kind::Parallel {
                    views,
                    writes: receiver.mutability.is_some(),
                }
            }
            false => {
                let whole = typed.next().filter(|_| signature.receiver().is_none());
                match whole.and_then(|it| refers_to(it, "Whole")) {
                    Some(writes) => Kind::Sequential { writes },
                    None => {
                        return refused(
                            "a sequential operation takes &Whole<Self, D> or &mut Whole<Self, D> first",
                        );
                    }
                }
            }
        };
        let parameters = typed.map(|it| parameter(it, is_parallel));
        let parameters = parameters.collect::<syn::Result<Vec<_>>>()?;
        if parameters.len() > MOST_PARAMETERS {
            return refused("an operation takes at most 12 arguments: put some into a struct");
        }
        let result = match &signature.output {
            ReturnType::Default => syn::parse_quote!(()),
            ReturnType::Type(_, result) => (**result).clone(),
        };
        check_type(&result, "the result of an operation")?;
        let has_result = !matches!(&result, Type::Tuple(of) if of.elems.is_empty());
        let collect = match (reduces, gathers, has_result && is_parallel) {
            (Some(_), true, _) => return refused("results are either gathered or reduced"),
            (Some(combine), false, true) => Collect::Reduce(Box::new(combine)),
            (None, true, true) => Collect::Gather,
            (None, false, false) => Collect::Nothing,
            (None, false, true) => {
                return refused(
                    "a parallel operation has a result of each element: mark it #[gather], or #[reduce(FUNCTION)] of two results",
                );
            }
            _ => return refused("results of elements are gathered or reduced, and there are none"),
        };
        let reads = match (reads, &kind) {
            (Some(reads), _) => reads,
            (None, Kind::Parallel { views: false, .. }) => Reads::Own,
            (None, _) => Reads::Whole,
        };
        if matches!(kind, Kind::Sequential { .. })
            && !matches!(reads, Reads::Whole | Reads::OnDemand)
        {
            return refused("a sequential operation reads whole or on_demand");
        }
        Ok(Some(Self {
            item: item.clone(),
            kind,
            reads,
            collect,
            parameters,
            result,
        }))
    }

    fn names(&self) -> Vec<&Ident> {
        self.parameters.iter().map(|(name, ..)| name).collect()
    }

    fn types(&self) -> Vec<&Type> {
        self.parameters.iter().map(|(_, of, _)| of).collect()
    }

    /// Returns the table's entry.
    fn table(&self, of: &Ident, dimensions: &LitInt) -> TokenStream {
        let (names, types, result) = (self.names(), self.types(), &self.result);
        let method = &self.item.sig.ident;
        let words = method.to_string();
        let reads = self.reads(dimensions);
        let generics = quote!(::<#of, #dimensions, (#(#types,)*), #result>);
        match self.kind {
            Kind::Parallel { views, writes } => {
                let make = match writes {
                    true => quote!(parallel_writes),
                    false => quote!(parallel_reads),
                };
                let view = views.then(|| quote!(view,));
                let given =
                    self.parameters
                        .iter()
                        .map(|(name, _, by_reference)| match by_reference {
                            true => quote!(#name),
                            false => quote!(::core::clone::Clone::clone(#name)),
                        });
                let collect = match &self.collect {
                    Collect::Nothing => quote!(Nothing),
                    Collect::Gather => quote!(Gather),
                    Collect::Reduce(combine) => quote!(Reduce(#combine)),
                };
                quote! {
                    arrays::#make #generics(
                        #words, #reads, arrays::Collect::#collect,
                        |element, view, arguments| {
                            let _ = view;
                            let (#(#names,)*) = arguments;
                            element.#method(#view #(#given),*)
                        },
                    )
                }
            }
            Kind::Sequential { writes } => {
                let make = match writes {
                    true => quote!(sequential_writes),
                    false => quote!(sequential_reads),
                };
                quote! {
                    arrays::#make #generics(
                        #words, #reads,
                        |whole, (#(#names,)*)| <#of>::#method(whole, #(#names),*),
                    )
                }
            }
        }
    }

    fn reads(&self, dimensions: &LitInt) -> TokenStream {
        let (names, types) = (self.names(), self.types());
        match &self.reads {
            Reads::Own => quote!(::orca::partitioned::Reads::Own),
            Reads::Whole => quote!(::orca::partitioned::Reads::Whole),
            Reads::Recorded => quote!(::orca::partitioned::Reads::Recorded),
            Reads::OnDemand => quote!(::orca::partitioned::Reads::OnDemand),
            Reads::Declared(declare) => {
                quote!(arrays::declared::<#dimensions, _>(|at, shape| #declare(at, shape)))
            }
            Reads::DeclaredByCall(declare) => quote! {
                arrays::declared_by_call::<#dimensions, (#(#types,)*), _>(|at, shape, arguments| {
                    let (#(#names,)*) = arguments;
                    #declare(at, shape, #(#names),*)
                })
            },
        }
    }

    /// Returns the proxy's method.
    fn call(&self, index: usize, dimensions: &LitInt) -> TokenStream {
        let (names, types, result) = (self.names(), self.types(), &self.result);
        let name = &self.item.sig.ident;
        let visibility = &self.item.vis;
        let docs = self
            .item
            .attrs
            .iter()
            .filter(|it: &&Attribute| it.path().is_ident("doc"));
        let (end, outcome) = match (&self.kind, &self.collect) {
            (Kind::Sequential { .. }, _) => (quote!(sequential(&returned)), quote!(#result)),
            (_, Collect::Nothing) => (quote!(nothing(&returned)), quote!(())),
            (_, Collect::Gather) => (
                quote!(gather(&returned)),
                quote!(::orca::Gathered<#result, #dimensions>),
            ),
            (_, Collect::Reduce(combine)) => (quote!(reduce(&returned, #combine)), quote!(#result)),
        };
        quote! {
            #(#docs)*
            ///
            /// # Errors
            /// The operation could not be executed.
            #visibility fn #name(&self, #(#names: #types),*) -> ::core::result::Result<#outcome, ::orca::Error> {
                let returned = self.0.invoke(#index, &(#(#names,)*))?;
                ::orca::private::arrays::#end
            }
        }
    }
}

/// Returns whether a parameter is a mutable reference to a type of this name, if it is a reference
/// to one.
fn refers_to(parameter: &PatType, name: &str) -> Option<bool> {
    let Type::Reference(reference) = &*parameter.ty else {
        return None;
    };
    let Type::Path(path) = &*reference.elem else {
        return None;
    };
    let is_it = path.path.segments.last().is_some_and(|it| it.ident == name);
    is_it.then_some(reference.mutability.is_some())
}

/// Returns a parameter that is sent to other machines. A parallel method may take a reference to
/// it.
fn parameter(typed: &PatType, may_refer: bool) -> syn::Result<Parameter> {
    let Pat::Ident(name) = &*typed.pat else {
        let why = "give the argument a name, and take it apart in the body";
        return Err(syn::Error::new_spanned(&typed.pat, why));
    };
    let (of, by_reference) = match &*typed.ty {
        Type::Reference(reference) if may_refer && reference.mutability.is_none() => {
            (owned(&reference.elem), true)
        }
        other => (other.clone(), false),
    };
    check_type(&of, "an argument of an operation")?;
    Ok((name.ident.clone(), of, by_reference))
}

/// Returns the type behind a reference.
fn owned(of: &Type) -> Type {
    match of {
        Type::Slice(slice) => {
            let element = &slice.elem;
            syn::parse_quote!(::std::vec::Vec<#element>)
        }
        Type::Path(path) if path.path.is_ident("str") => syn::parse_quote!(::std::string::String),
        other => other.clone(),
    }
}
