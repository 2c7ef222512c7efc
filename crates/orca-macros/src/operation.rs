//! The operations of shared objects.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::visit::Visit;
use syn::{
    Attribute, Expr, FnArg, ImplItem, ImplItemFn, ItemImpl, Meta, Pat, ReturnType, Type, Visibility,
};

use crate::forbidden::Finder;

/// The most parameters of an operation: serde encodes tuples up to this length.
pub const MOST_PARAMETERS: usize = 12;

/// A method of the block, as an alternative of an operation.
struct Method {
    item: ImplItemFn,
    operation: Ident,
    guard: Option<Expr>,
    /// The guard in the program's words.
    words: String,
    writes: bool,
    does_io: bool,
    /// Whether it has the operation's own name and no guard, so that it can be called directly.
    is_plain: bool,
    parameters: Vec<(Ident, Type)>,
    result: Type,
}

/// An operation: alternatives of one name. Those that only read come first.
struct Operation {
    name: Ident,
    methods: Vec<Method>,
}

/// Makes the methods of a block operations.
pub fn expand(block: ItemImpl) -> syn::Result<TokenStream> {
    if let Some((_, path, _)) = &block.trait_ {
        return Err(syn::Error::new_spanned(
            path,
            "operations are methods of the type itself, not of a trait",
        ));
    }
    if !block.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(
            &block.generics,
            "a type of shared objects has one name on all machines, so it has no parameters",
        ));
    }
    let self_type = &block.self_ty;
    let name = match &**self_type {
        Type::Path(path) => path.path.segments.last().map(|it| it.ident.clone()),
        _ => None,
    };
    let name =
        name.ok_or_else(|| syn::Error::new_spanned(self_type, "the name of a struct is expected"))?;
    let mut others = Vec::new();
    let mut operations: Vec<Operation> = Vec::new();
    for item in block.items {
        let method = match item {
            ImplItem::Fn(method) if method.sig.receiver().is_some() => Method::parse(method)?,
            other => {
                others.push(other);
                continue;
            }
        };
        match operations.iter_mut().find(|it| it.name == method.operation) {
            None => operations.push(Operation {
                name: method.operation.clone(),
                methods: vec![method],
            }),
            Some(operation) => operation.add(method)?,
        }
    }
    if operations.is_empty() {
        return Err(syn::Error::new_spanned(
            self_type,
            "this block has no operations: methods with &self read the object, and methods with &mut self write it",
        ));
    }
    for operation in &mut operations {
        operation.methods.sort_by_key(|it| it.writes);
    }
    let proxy = format_ident!("{name}Proxy");
    let attributes = &block.attrs;
    let methods = operations.iter().map(Operation::methods);
    let tables = operations.iter().map(|operation| operation.table(&name));
    let calls = operations.iter().enumerate();
    let calls = calls.map(|(index, operation)| operation.call(&name, index));
    let doc = format!("The operations of shared [`{name}`] objects.");
    Ok(quote! {
        #(#attributes)*
        impl #self_type {
            #(#others)*
            #(#methods)*
        }

        #[doc = #doc]
        #[derive(Clone, Debug)]
        pub struct #proxy(::orca::Handle);

        #[allow(private_interfaces, dead_code, clippy::too_many_arguments)]
        impl #proxy {
            #(#calls)*
        }

        impl ::core::convert::From<::orca::Handle> for #proxy {
            fn from(handle: ::orca::Handle) -> Self {
                Self(handle)
            }
        }

        impl ::core::convert::AsRef<::orca::Handle> for #proxy {
            fn as_ref(&self) -> &::orca::Handle {
                &self.0
            }
        }

        const _: () = {
            static MADE: ::orca::private::Made = ::orca::private::Made::new();
            static TYPE: ::orca::private::RegisteredType = ::orca::private::RegisteredType { make, made: &MADE };

            fn make() -> ::orca::ObjectType {
                ::orca::ObjectType::new(
                    ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)),
                    ::orca::private::codec::<#name>(),
                    ::std::vec![#(#tables),*],
                )
            }

            ::orca::private::inventory::submit! {
                ::orca::private::RegisteredType { make, made: &MADE }
            }

            impl ::orca::Object for #name {
                type Proxy = #proxy;
                fn object_type() -> &'static ::orca::ObjectType {
                    TYPE.get()
                }
            }
        };
    })
}

/// Removes an attribute from a list, and returns it.
pub fn take(attributes: &mut Vec<Attribute>, name: &str) -> syn::Result<Option<Attribute>> {
    let at = attributes.iter().position(|it| it.path().is_ident(name));
    let taken = at.map(|at| attributes.remove(at));
    match attributes.iter().find(|it| it.path().is_ident(name)) {
        Some(second) => Err(syn::Error::new_spanned(
            second,
            format!(
                "one #[{name}] is enough; alternatives are methods of their own, marked #[operation(NAME)]"
            ),
        )),
        None => Ok(taken),
    }
}

/// Returns the text between the parentheses of an attribute.
fn words_of(attribute: &Attribute) -> String {
    let Meta::List(list) = &attribute.meta else {
        return String::new();
    };
    let source = list.delimiter.span().join().source_text();
    let source = source.unwrap_or_else(|| format!("({})", list.tokens));
    let lines = source.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let inner = lines.strip_prefix(['(', '[', '{']);
    let inner = inner.and_then(|it| it.strip_suffix([')', ']', '}']));
    inner.unwrap_or(&lines).trim().to_owned()
}

/// Refuses types that cannot be sent to another machine.
pub fn check_type(of: &Type, what: &str) -> syn::Result<()> {
    match of {
        Type::Reference(_) => Err(syn::Error::new_spanned(
            of,
            format!(
                "{what} may go to another machine, which a reference cannot: use a value, such as String for &str or Vec<T> for &[T]"
            ),
        )),
        Type::ImplTrait(_) => Err(syn::Error::new_spanned(
            of,
            format!("{what} may go to another machine, so its type must be known: name it"),
        )),
        _ => Ok(()),
    }
}

impl Method {
    fn parse(mut item: ImplItemFn) -> syn::Result<Self> {
        let guard = take(&mut item.attrs, "guard")?;
        let words = guard.as_ref().map(words_of).unwrap_or_default();
        let guard = guard.map(|guard| guard.parse_args::<Expr>()).transpose()?;
        let does_io = take(&mut item.attrs, "io")?.is_some();
        let operation = take(&mut item.attrs, "operation")?;
        let operation = operation.map(|it| it.parse_args::<Ident>()).transpose()?;
        let signature = &item.sig;
        if let Some(word) = &signature.asyncness {
            return Err(syn::Error::new_spanned(
                word,
                "an operation is one atomic step, so it cannot be async: use a guard to wait for the object",
            ));
        }
        if !signature.generics.params.is_empty() {
            return Err(syn::Error::new_spanned(
                &signature.generics,
                "an operation is one entry of its type's table, so it has no parameters of types or lifetimes",
            ));
        }
        let receiver = signature.receiver().filter(|it| it.reference.is_some());
        let Some(receiver) = receiver else {
            return Err(syn::Error::new_spanned(
                signature,
                "an operation takes &self, if it reads the object, or &mut self, if it writes it",
            ));
        };
        let writes = receiver.mutability.is_some();
        let mut parameters = Vec::new();
        for input in &signature.inputs {
            let FnArg::Typed(typed) = input else { continue };
            check_type(&typed.ty, "an argument of an operation")?;
            match &*typed.pat {
                Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                    parameters.push((name.ident.clone(), (*typed.ty).clone()));
                }
                other => {
                    return Err(syn::Error::new_spanned(
                        other,
                        "give the argument a name, and take it apart in the body",
                    ));
                }
            }
        }
        if parameters.len() > MOST_PARAMETERS {
            return Err(syn::Error::new_spanned(
                &signature.inputs,
                format!(
                    "an operation takes at most {MOST_PARAMETERS} arguments: put some into a struct"
                ),
            ));
        }
        let result = match &signature.output {
            ReturnType::Default => syn::parse_quote!(()),
            ReturnType::Type(_, result) => (**result).clone(),
        };
        check_type(&result, "the result of an operation")?;
        if !does_io {
            let mut finder = Finder::default();
            finder.visit_block(&item.block);
            if let Some(guard) = &guard {
                finder.visit_expr(guard);
            }
            if let Some(error) = finder.found {
                return Err(error);
            }
        }
        Ok(Self {
            is_plain: guard.is_none() && operation.is_none(),
            operation: operation.unwrap_or_else(|| item.sig.ident.clone()),
            item,
            guard,
            words,
            writes,
            does_io,
            parameters,
            result,
        })
    }

    /// Returns its arguments and its result, as text.
    fn heading(&self) -> String {
        let (names, types, result) = (self.names(), self.types(), &self.result);
        quote!((#(#names: #types),*) -> #result).to_string()
    }

    fn names(&self) -> Vec<&Ident> {
        self.parameters.iter().map(|(name, _)| name).collect()
    }

    fn types(&self) -> Vec<&Type> {
        self.parameters.iter().map(|(_, of)| of).collect()
    }

    fn guard_name(&self) -> Ident {
        format_ident!("__orca_guard_{}", self.item.sig.ident)
    }

    fn body_name(&self) -> Ident {
        match self.is_plain {
            true => self.item.sig.ident.clone(),
            false => format_ident!("__orca_body_{}", self.item.sig.ident),
        }
    }

    /// Returns its guard and its body, as separate methods.
    fn parts(&self) -> TokenStream {
        if self.is_plain {
            let item = &self.item;
            return quote!(#item);
        }
        let mut body = self.item.clone();
        body.sig.ident = self.body_name();
        body.vis = Visibility::Inherited;
        body.attrs.retain(|it| !it.path().is_ident("doc"));
        let guard = self.guard.as_ref().map(|guard| {
            let name = self.guard_name();
            let (names, types) = (self.names(), self.types());
            quote! {
                #[allow(clippy::too_many_arguments, clippy::type_complexity)]
                fn #name(&self, #(#names: #types),*) -> ::core::result::Result<(#(#types,)*), (#(#types,)*)> {
                    let __orca_is_open: bool = #guard;
                    match __orca_is_open {
                        true => ::core::result::Result::Ok((#(#names,)*)),
                        false => ::core::result::Result::Err((#(#names,)*)),
                    }
                }
            }
        });
        // An argument may be used only by the guard.
        quote! {
            #guard
            #[allow(unused_variables)]
            #body
        }
    }

    /// Returns the table's entry.
    fn alternative(&self, of: &Ident) -> TokenStream {
        let (names, types) = (self.names(), self.types());
        let body_name = self.body_name();
        let words = match &self.guard {
            None => quote!(::core::option::Option::None),
            Some(_) => {
                let words = &self.words;
                quote!(::core::option::Option::Some(::std::string::String::from(#words)))
            }
        };
        let open = self.guard.as_ref().map(|_| {
            let guard = self.guard_name();
            quote! {
                let ::core::result::Result::Ok((#(#names,)*)) = state.#guard(#(#names),*) else {
                    return ::core::result::Result::Ok(::orca::Step::Closed);
                };
            }
        });
        let (kind, downcast) = match self.writes {
            true => (quote!(Writes), quote!(downcast_mut)),
            false => (quote!(Reads), quote!(downcast_ref)),
        };
        quote! {
            ::orca::Alternative {
                guard: #words,
                may_undo: <#of as ::orca::StateOf>::NESTS,
                body: ::orca::Body::#kind(::std::boxed::Box::new(|state, bytes| {
                    let state = state.#downcast::<#of>().expect("the table of this type");
                    let (#(#names,)*): (#(#types,)*) = ::orca::private::value_in(bytes)?;
                    #open
                    ::core::result::Result::Ok(::orca::Step::Done(::orca::private::encode(&state.#body_name(#(#names),*))?))
                })),
            }
        }
    }

    /// Returns the attempt on the local copy.
    fn attempt(&self, of: &Ident, index: usize) -> TokenStream {
        let names = self.names();
        let body = self.body_name();
        let open = self.guard.as_ref().map(|_| {
            let guard = self.guard_name();
            quote!(let (#(#names,)*) = state.#guard(#(#names),*)?;)
        });
        let here = match self.writes {
            true => quote!(write_here),
            false => quote!(read_here),
        };
        quote! {
            let arguments = match self.0.#here::<#of, _, _>(#index, arguments, |state, (#(#names,)*)| {
                #open
                ::core::result::Result::Ok(state.#body(#(#names),*))
            }) {
                ::orca::private::Here::Done(outcome) => return outcome,
                ::orca::private::Here::Not(arguments) => arguments,
            };
        }
    }
}

impl Operation {
    fn add(&mut self, method: Method) -> syn::Result<()> {
        let first = &self.methods[0];
        if first.is_plain || method.is_plain {
            return Err(syn::Error::new_spanned(
                &method.item.sig.ident,
                format!(
                    "operation {} has two methods: mark both #[operation({})]",
                    self.name, self.name
                ),
            ));
        }
        if first.heading() != method.heading() {
            return Err(syn::Error::new_spanned(
                &method.item.sig,
                format!(
                    "the alternatives of operation {} have the same arguments, of the same names, and the same result",
                    self.name
                ),
            ));
        }
        self.methods.push(method);
        Ok(())
    }

    fn does_io(&self) -> bool {
        self.methods.iter().any(|it| it.does_io)
    }

    /// Returns the methods of the type itself.
    fn methods(&self) -> TokenStream {
        let parts = self.methods.iter().map(Method::parts);
        let first = &self.methods[0];
        if first.is_plain {
            return quote!(#(#parts)*);
        }
        // These are for nested objects, and for use without a run-time.
        let name = &self.name;
        let writes = self.methods.iter().any(|it| it.writes);
        let receiver = if writes {
            quote!(&mut self)
        } else {
            quote!(&self)
        };
        let (names, types, result) = (first.names(), first.types(), &first.result);
        let visibility = &first.item.vis;
        let docs = first
            .item
            .attrs
            .iter()
            .filter(|it| it.path().is_ident("doc"));
        let has_more = self.methods.len() > 1;
        let tries = self.methods.iter().map(|method| {
            let body = method.body_name();
            let call = match has_more && method.writes {
                false => quote!(return self.#body(#(#names),*);),
                // After an alternative that blocks within, the next is tried.
                true => quote! {
                    if <Self as ::orca::StateOf>::NESTS {
                        let (#(#names,)*) = (#(::core::clone::Clone::clone(&#names),)*);
                        let done = ::orca::private::or_undo(self, move |this| this.#body(#(#names),*));
                        if let ::core::option::Option::Some(result) = done {
                            return result;
                        }
                    } else {
                        return self.#body(#(#names),*);
                    }
                },
            };
            match &method.guard {
                None => quote!({ #call }),
                Some(_) => {
                    let guard = method.guard_name();
                    quote! {
                        let (#(#names,)*) = match self.#guard(#(#names),*) {
                            ::core::result::Result::Ok((#(#names,)*)) => { #call #[allow(unreachable_code)] (#(#names,)*) }
                            ::core::result::Result::Err(arguments) => arguments,
                        };
                    }
                }
            }
        });
        let words = name.to_string();
        quote! {
            #(#docs)*
            #[allow(unused_variables, unreachable_code, dead_code, clippy::too_many_arguments, clippy::needless_return)]
            #visibility fn #name(#receiver, #(#names: #types),*) -> #result {
                #(#tries)*
                ::orca::private::block(::core::any::type_name::<Self>(), #words)
            }
            #(#parts)*
        }
    }

    fn table(&self, of: &Ident) -> TokenStream {
        let name = self.name.to_string();
        let alternatives = self.methods.iter().map(|method| method.alternative(of));
        let has_result = !matches!(&self.methods[0].result, Type::Tuple(of) if of.elems.is_empty());
        let does_io = self.does_io();
        quote! {
            ::orca::Operation {
                name: ::std::string::String::from(#name),
                alternatives: ::std::vec![#(#alternatives),*],
                has_result: #has_result,
                does_io: #does_io,
            }
        }
    }

    /// Returns the proxy's method.
    fn call(&self, of: &Ident, index: usize) -> TokenStream {
        let first = &self.methods[0];
        let name = Ident::new(
            &self.name.to_string(),
            Span::call_site().located_at(self.name.span()),
        );
        let visibility = &first.item.vis;
        let (names, types, result) = (first.names(), first.types(), &first.result);
        let docs = first
            .item
            .attrs
            .iter()
            .filter(|it| it.path().is_ident("doc"));
        let attempts = self.methods.iter().map(|method| method.attempt(of, index));
        quote! {
            #(#docs)*
            ///
            /// # Errors
            /// The operation could not be executed.
            #visibility fn #name(&self, #(#names: #types),*) -> ::core::result::Result<#result, ::orca::Error> {
                let arguments = (#(#names,)*);
                #(#attempts)*
                self.0.invoke(#index, &arguments)
            }
        }
    }
}
