//! The attribute `#[python]`, for functions that Python calls.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;
use quote::ToTokens;
use syn::{parse_macro_input, parse_quote, Block, ImplItem, Item, ReturnType, Signature, Type};

/// Make a function a `#[pyfunction]`, or an `impl` block `#[pymethods]`, that raises an exception if it panics.
///
/// Each body runs in `crate::panics::caught`, which the crate defines. A function that returns `T` is changed to return
/// `PyResult<T>`.
#[proc_macro_attribute]
pub fn python(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut item = parse_macro_input!(item as Item);
    match &mut item {
        Item::Fn(function) => {
            function.attrs.insert(0, parse_quote!(#[::pyo3::pyfunction]));
            wrap(&mut function.sig, &mut function.block);
        }
        Item::Impl(methods) => {
            methods.attrs.insert(0, parse_quote!(#[::pyo3::pymethods]));
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

/// Wrap the body of a function, and its return type unless that is a `PyResult`.
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

/// Return whether a return type is `PyResult`.
fn is_result(returned: &Type) -> bool {
    let Type::Path(path) = returned else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "PyResult")
}
