//! The state of shared objects.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemStruct;

/// Makes the struct a state, and removes the marks of its fields.
pub fn expand(mut item: ItemStruct) -> syn::Result<TokenStream> {
    if !item.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(
            &item.generics,
            "a type of shared objects has one name on all machines, so it has no parameters: write one struct for each type that you use",
        ));
    }
    let mut nests = false;
    for field in &mut item.fields {
        let before = field.attrs.len();
        field
            .attrs
            .retain(|attribute| !attribute.path().is_ident("nested"));
        nests |= field.attrs.len() != before;
    }
    let name = &item.ident;
    Ok(quote! {
        #item

        impl ::orca::StateOf for #name {
            const NESTS: bool = #nests;
        }
    })
}
