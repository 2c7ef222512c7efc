//! The attributes' errors.

use proc_macro2::TokenStream;

fn refused(expanded: syn::Result<TokenStream>) -> String {
    expanded.expect_err("it is refused").to_string()
}

fn object(item: &str) -> syn::Result<TokenStream> {
    let item = item.parse().expect("tokens");
    super::expand_object(TokenStream::new(), item)
}

fn operation(method: &str) -> String {
    refused(object(&format!("impl Counter {{ {method} }}")))
}

fn process(item: &str) -> syn::Result<TokenStream> {
    super::process::expand(&TokenStream::new(), item.parse().expect("tokens"))
}

#[test]
fn what_differs_between_machines_is_refused() {
    for body in [
        "Instant::now();",
        "std::time::SystemTime::now();",
        "rand::random::<u8>();",
        "thread_rng();",
        "println!(\"{}\", 1);",
        "let _ = std::fs::read(\"x\");",
        "File::open(\"x\");",
        "std::env::var(\"x\");",
        "std::thread::sleep(time);",
        "if true { dbg!(1); }",
    ] {
        let said = operation(&format!("fn get(&self) {{ {body} }}"));
        assert!(said.contains("mark the operation #[io]"), "{body}: {said}");
        let allowed = format!("impl Counter {{ #[io] fn get(&self) {{ {body} }} }}");
        object(&allowed).expect("marked");
    }
    let said = operation("#[guard(Instant::now() > self.at)] fn get(&self) {}");
    assert!(said.contains("Instant::now differs"), "{said}");
}

#[test]
fn what_cannot_go_to_another_machine_is_refused() {
    let said = operation("fn set(&mut self, name: &str) {}");
    assert!(
        said.contains("use a value, such as String for &str"),
        "{said}"
    );
    let said = operation("fn get(&self) -> &str { \"\" }");
    assert!(said.contains("the result of an operation"), "{said}");
    let said = operation("fn set(&mut self, name: impl Into<String>) {}");
    assert!(said.contains("its type must be known"), "{said}");
    let said = refused(process("fn worker(count: u32, name: &str) {}"));
    assert!(said.contains("Only &Orca may come first"), "{said}");
}

#[test]
fn operations_take_the_object_by_reference() {
    let said = operation("fn get(self) -> u8 { 0 }");
    assert!(said.contains("&self, if it reads"), "{said}");
    let said = operation("async fn get(&self) {}");
    assert!(said.contains("cannot be async"), "{said}");
    let said = operation("fn get<T>(&self) {}");
    assert!(said.contains("no parameters of types"), "{said}");
    let said = operation("fn set(&mut self, (a, b): (u8, u8)) {}");
    assert!(said.contains("give the argument a name"), "{said}");
    let said = operation("fn new() -> Self { Self }");
    assert!(said.contains("has no operations"), "{said}");
    let said = operation("#[guard(true)] #[guard(false)] fn get(&self) {}");
    assert!(said.contains("#[operation(NAME)]"), "{said}");
}

#[test]
fn alternatives_agree() {
    let said = operation("fn get(&self) {} #[operation(get)] #[guard(true)] fn other(&self) {}");
    assert!(said.contains("mark both #[operation(get)]"), "{said}");
    let said = operation(
        "#[operation(get)] fn one(&self, a: u8) {} #[operation(get)] #[guard(true)] fn other(&self) {}",
    );
    assert!(said.contains("the same arguments"), "{said}");
}

#[test]
fn generic_and_foreign_items_are_refused() {
    let said = refused(object("struct Cell<T> { value: T }"));
    assert!(said.contains("write one struct for each type"), "{said}");
    let said = refused(object("impl<T> Cell<T> { fn get(&self) {} }"));
    assert!(said.contains("has no parameters"), "{said}");
    let said = refused(object(
        "impl Clone for Counter { fn clone(&self) -> Self { Self } }",
    ));
    assert!(said.contains("not of a trait"), "{said}");
    let said = refused(object("fn counter() {}"));
    assert!(said.contains("is for a struct"), "{said}");
    let said = refused(process("async fn worker() {}"));
    assert!(said.contains("cannot be async"), "{said}");
    let said = refused(process("fn worker<T>(value: T) {}"));
    assert!(said.contains("one name on all machines"), "{said}");
}

fn elements(method: &str) -> syn::Result<TokenStream> {
    let block = format!("impl Point {{ {method} }}")
        .parse()
        .expect("tokens");
    let dimensions = "2".parse().expect("a number");
    super::elements::expand(dimensions, syn::parse2(block).expect("a block"))
}

#[test]
fn operations_of_arrays_say_what_they_are() {
    let said = |method| refused(elements(method));
    let why = said("fn helper(&self) {}");
    assert!(why.contains("has no operations"), "{why}");
    let why = said("#[parallel] fn heat(&self) -> f64 { 0.0 }");
    assert!(
        why.contains("mark it #[gather], or #[reduce(FUNCTION)]"),
        "{why}"
    );
    let why = said("#[parallel] #[gather] fn heat(&self) {}");
    assert!(why.contains("and there are none"), "{why}");
    let why = said("#[parallel] fn heat(rows: &View<Self, 2>) {}");
    assert!(
        why.contains("takes &self or &mut self: its element"),
        "{why}"
    );
    let why = said("#[sequential] fn heat(&self) {}");
    assert!(
        why.contains("takes &Whole<Self, D> or &mut Whole<Self, D> first"),
        "{why}"
    );
    let why = said("#[sequential] #[reads(recorded)] fn heat(w: &Whole<Self, 2>) {}");
    assert!(why.contains("reads whole or on_demand"), "{why}");
    let why = said("#[parallel] #[reads(some)] fn heat(&self) {}");
    assert!(why.contains("declared = FUNCTION"), "{why}");
    let why = said("#[gather] fn heat(&self) -> f64 { 0.0 }");
    assert!(why.contains("#[parallel] or #[sequential]"), "{why}");
    let why = said("#[parallel] fn heat<T>(&self) {}");
    assert!(why.contains("no parameters of types"), "{why}");
    let why = said("#[parallel] fn heat(&self, by: &mut f64) {}");
    assert!(why.contains("which a reference cannot"), "{why}");
    elements("#[parallel] fn heat(&mut self, by: &[f64], name: &str) {}").expect("references");
}

#[test]
fn arrays_have_one_to_three_dimensions() {
    let of = |dimensions: &str| {
        let block = syn::parse_str("impl Point { #[parallel] fn heat(&self) {} }");
        let dimensions = dimensions.parse().expect("tokens");
        super::elements::expand(dimensions, block.expect("a block"))
    };
    let why = refused(of(""));
    assert!(why.contains("#[orca::elements(2)]"), "{why}");
    let why = refused(of("4"));
    assert!(why.contains("1 to 3 dimensions"), "{why}");
    of("3").expect("three");
}
