//! Region comments: `#@ region expression`.

use antiphon_sr::syntax::{Body, Creation, Expression, ExpressionKind, Item, ItemKind, Statement};
use antiphon_sr::{Sources, parse};

/// Returns the items of the only component's body, and the messages.
fn items(text: &str) -> (Vec<Item>, Vec<String>) {
    let mut sources = Sources::default();
    let file = sources.add("t.sr", text.as_bytes().to_vec());
    let (mut components, diagnostics) = parse(&sources, file);
    let messages = diagnostics.iter().map(|d| d.text(&sources)).collect();
    let Some(Body::Items(items)) = components.pop().map(|c| c.body) else {
        panic!("no body; {messages:?}");
    };
    (items, messages)
}

fn name(expression: &Option<Expression>) -> Option<&str> {
    match &expression.as_ref()?.kind {
        ExpressionKind::Name(name) => Some(name),
        _ => None,
    }
}

fn creation(item: &Item) -> &Creation {
    let ItemKind::Statement(Statement::Expression(statement)) = &item.kind else {
        panic!("no expression: {item:?}");
    };
    match &statement.kind {
        ExpressionKind::Create(creation) => creation,
        ExpressionKind::Assign(_, value) => match &value.kind {
            ExpressionKind::Create(creation) => creation,
            other => panic!("no creation: {other:?}"),
        },
        other => panic!("no creation: {other:?}"),
    }
}

#[test]
fn a_process_has_the_region_after_its_head() {
    let (items, messages) = items(
        "resource main()\n process a #@ region r\n skip\n end\n process b(i := 1 to 9)\n #@ region i # each its own\n skip\n end\n \
         process c #@ no region\n skip\n end\nend\n",
    );
    assert_eq!(messages, [""; 0]);
    let regions: Vec<_> = items
        .iter()
        .map(|item| match &item.kind {
            ItemKind::Process(_, _, block, region) => {
                assert_eq!(block.items.len(), 1);
                name(region)
            }
            other => panic!("no process: {other:?}"),
        })
        .collect();
    assert_eq!(regions, [Some("r"), Some("i"), None]);
}

#[test]
fn a_creation_has_the_region_after_it() {
    let (items, messages) = items(
        "resource main()\n c := create R(1) #@ region r\n create R(2) on m #@ region s\n create R(3)\nend\n",
    );
    assert_eq!(messages, [""; 0]);
    let regions: Vec<_> = items
        .iter()
        .map(|item| name(&creation(item).region))
        .collect();
    assert_eq!(regions, [Some("r"), Some("s"), None]);
    assert_eq!(name(&creation(&items[1]).machine), Some("m"));
}

#[test]
fn a_region_elsewhere_and_one_without_a_number_are_errors() {
    let (_, messages) =
        items("resource main()\n x := 1 #@ region 2\n skip\n create R() #@ region\nend\n");
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages[0].starts_with("t.sr:2:9: error: "), "{messages:?}");
    assert!(
        messages[1]
            .starts_with("t.sr:4:22: error: expected an expression, found the end of the line"),
        "{messages:?}"
    );
}
