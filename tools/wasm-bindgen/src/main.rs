//! Writes the JavaScript of a WebAssembly module, as `wasm-bindgen --target web` does, but with the versions of a
//! lock file of its own.

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else {
        panic!("usage: wasm-bindgen-tool MODULE.wasm FOLDER NAME");
    };
    let mut tool = wasm_bindgen_cli_support::Bindgen::new();
    tool.web(true).expect("the target is known");
    tool.input_path(module).out_name(name).typescript(false).omit_default_module_path(false);
    tool.remove_producers_section(true);
    tool.generate(folder).expect("the module was built with the same version of wasm-bindgen");
}
