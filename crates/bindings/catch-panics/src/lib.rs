//! The attribute that every function called by Python carries.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;
use quote::ToTokens;
use syn::{parse_macro_input, parse_quote, Block, ImplItem, Item, ReturnType, Signature, Type};

/// Make a function, or every function of an `impl` block, return an error where it panics.
///
/// Stands above `#[pyfunction]` and `#[pymethods]`. The body runs in `crate::panics::caught`, and a function
/// that returns `T` returns `PyResult<T>` instead.
#[proc_macro_attribute]
pub fn catch_panics(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut item = parse_macro_input!(item as Item);
    match &mut item {
        Item::Fn(function) => wrap(&mut function.sig, &mut function.block),
        Item::Impl(methods) => {
            for method in &mut methods.items {
                if let ImplItem::Fn(method) = method {
                    wrap(&mut method.sig, &mut method.block);
                }
            }
        }
        other => {
            return syn::Error::new_spanned(other, "expected a function or an `impl` block")
                .to_compile_error()
                .into()
        }
    }
    item.into_token_stream().into()
}

fn wrap(signature: &mut Signature, body: &mut Block) {
    let returned: Type = match &signature.output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, returned) => (**returned).clone(),
    };
    if is_result(&returned) {
        *body = parse_quote!({ crate::panics::caught(move || -> #returned #body)? });
    } else {
        *body = parse_quote!({ crate::panics::caught(move || -> #returned #body) });
        signature.output = ReturnType::Type(Default::default(), parse_quote!(::pyo3::PyResult<#returned>));
    }
}

fn is_result(returned: &Type) -> bool {
    let Type::Path(path) = returned else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "PyResult")
}
