//! Processes.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{FnArg, ItemFn, Pat, Type};

/// Keeps the function, and adds the code that forks it.
pub fn expand(arguments: &TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(syn::Error::new_spanned(
            arguments,
            "#[orca::process] takes no arguments",
        ));
    }
    let item: ItemFn = syn::parse2(item)?;
    let signature = &item.sig;
    if let Some(word) = &signature.asyncness {
        return Err(syn::Error::new_spanned(
            word,
            "a process is a thread of its machine, so it cannot be async",
        ));
    }
    if !signature.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(
            &signature.generics,
            "a process has one name on all machines, so it has no parameters of types or lifetimes",
        ));
    }
    let mut takes_orca = false;
    let (mut names, mut types) = (Vec::new(), Vec::new());
    for (at, input) in signature.inputs.iter().enumerate() {
        let FnArg::Typed(typed) = input else {
            return Err(syn::Error::new_spanned(
                input,
                "a process is a function of its own, without self",
            ));
        };
        match (&*typed.ty, &*typed.pat) {
            (Type::Reference(_), _) if at == 0 => takes_orca = true,
            (Type::Reference(_), _) => {
                return Err(syn::Error::new_spanned(
                    &typed.ty,
                    "an argument of a process goes to another machine, which a reference cannot: use a value or a Shared object. Only &Orca may come first",
                ));
            }
            (of, Pat::Ident(name)) => {
                names.push(&name.ident);
                types.push(of);
            }
            (_, other) => {
                return Err(syn::Error::new_spanned(
                    other,
                    "give the argument a name, and take it apart in the body",
                ));
            }
        }
    }
    let name = &signature.ident;
    let visibility = &item.vis;
    let orca = takes_orca.then(|| quote!(orca,));
    let doc = format!("Forks the process `{name}`.");
    Ok(quote! {
        #item

        #[doc = #doc]
        #[allow(non_camel_case_types)]
        #visibility struct #name {}

        #[allow(private_interfaces, clippy::too_many_arguments)]
        impl #name {
            /// The name of the process, the same on all machines.
            #visibility const NAME: &'static str =
                ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name));

            /// Starts the process on a machine, with these arguments.
            ///
            /// # Errors
            /// There is no such machine, or the arguments cannot be encoded.
            #visibility fn fork(orca: &::orca::Orca, on: ::orca::On, #(#names: #types),*) -> ::core::result::Result<(), ::orca::Error> {
                orca.fork(on, Self::NAME, &(#(#names,)*))
            }
        }

        const _: () = {
            fn run(
                orca: &::orca::Orca,
                arguments: &::orca::Arguments,
            ) -> ::core::result::Result<(), ::std::string::String> {
                let (#(#names,)*): (#(#types,)*) = arguments.decode()?;
                ::orca::private::Ending::end(#name(#orca #(#names),*))
            }

            ::orca::private::inventory::submit! {
                ::orca::private::RegisteredProcess { name: #name::NAME, run }
            }
        };
    })
}
