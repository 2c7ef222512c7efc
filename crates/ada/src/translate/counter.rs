//! The variable that replaces the parameter of a `for` loop with waits inside (figure 6 of the
//! paper).

use super::context::Context;
use super::machine::Counter;
use super::visibility;
use crate::names::{EntityId, Kind, Names, Ty};
use crate::syntax::NodeId;
use crate::verdict::{Reason, Rule};

/// Returns the counter of a loop, and the loop parameter it replaces.
///
/// # Errors
/// A reason, if the loop iterates over a container, or its bounds or type cannot be determined
/// beforehand.
pub fn of(cx: &Context, node: NodeId) -> Result<(EntityId, Counter), Reason> {
    let tree = cx.tree();
    let refuse = |text: &str, help: &str| cx.reason(Rule::LoopShape, node, text, help);
    let spec = tree
        .child(node, "iteration_scheme")
        .and_then(|s| tree.child(s, "loop_parameter_specification"));
    let Some(spec) = spec else {
        return Err(refuse(
            "the loop iterates over a container while it waits for calls",
            "loop over an index",
        ));
    };
    let scope = cx.names.region(cx.at(node));
    let id = scope.and_then(|s| cx.names.scope(s).entities.first().copied());
    let Some(id) = id else {
        return Err(refuse(
            "the loop's parameter could not be resolved",
            "check that the file compiles",
        ));
    };
    let name = cx.names.entity(id).name.clone();
    let is_reverse = tree.child(spec, "reverse").is_some();
    let range = tree.child(spec, "range_g").or_else(|| {
        tree.child(spec, "range_constraint")
            .and_then(|c| tree.child(c, "range_g"))
    });
    let mark = tree.role(spec, "subtype_mark");
    let bounds = range.and_then(|r| bounds(cx, r));
    let (low, high) = match (range, mark, &bounds) {
        (Some(_), _, Some((low, high, _))) => (low.clone(), high.clone()),
        (None, Some(mark), _) => (
            format!("{}'First", cx.text(mark)),
            format!("{}'Last", cx.text(mark)),
        ),
        _ => {
            return Err(refuse(
                "the range of the loop cannot be taken apart",
                "write the range as First .. Last",
            ));
        }
    };
    let subtype = match mark {
        Some(mark) => Some(cx.text(mark).to_string()),
        None => bounds.as_ref().and_then(|b| cx.type_name(b.2)),
    };
    let Some(subtype) = subtype else {
        return Err(refuse(
            "the type of the loop's parameter is not known",
            "name it: for I in Type range First .. Last",
        ));
    };
    if let (None, Some((_, _, Ty::Named(ty)))) = (mark, &bounds)
        && !cx.is_local(*ty)
        && !visibility::is_shown(cx, *ty)
    {
        return Err(refuse(
            "the type of the loop's parameter is declared after the task",
            "declare it before the task",
        ));
    }
    let key = Names::key(&subtype);
    let is_integer = ["integer", "natural", "positive"].contains(&key.as_str());
    let is_entered = cx.flow.is_entered(node);
    let (first, last) = if is_reverse { (high, low) } else { (low, high) };
    let is_constant = range.is_none_or(|r| cx.is_constant(r));
    // The bounds of an array object never change. Other bounds are evaluated once, when the loop is
    // entered (RM 5.5 (9)).
    let is_fixed = is_constant || range.is_some_and(|r| tree.child(r, "..").is_none());
    let bound = (!is_fixed).then(|| {
        let base = if is_integer {
            "Integer".to_string()
        } else {
            format!("{subtype}'Base")
        };
        (format!("Last_{name}"), base, last.clone())
    });
    let last = bound.as_ref().map_or(last, |b| b.0.clone());
    // Names that are visible in the body may not be declared yet at the component.
    let is_shown = range
        .is_none_or(|r| visibility::is_all_shown(cx, r) && visibility::is_resolved_or_near(cx, r));
    let discrete = (!is_integer).then(|| subtype.clone());
    let counter = Counter {
        name,
        subtype,
        first,
        last,
        discrete,
        is_reverse,
        is_entered,
        has_static_first: is_constant && is_shown,
        bound,
    };
    Ok((id, counter))
}

/// Returns the bounds of a range, as text, and their type.
fn bounds(cx: &Context, range: NodeId) -> Option<(String, String, Ty)> {
    let tree = cx.tree();
    let text = cx.text(range);
    let dots = tree.child(range, "..");
    if let Some(dots) = dots {
        let low = cx.source().text[tree.start(range)..tree.start(dots)]
            .trim()
            .to_string();
        let high = cx.source().text[tree.end(dots)..tree.end(range)]
            .trim()
            .to_string();
        let ty = tree
            .children(range)
            .filter(|&n| n != dots)
            .map(|n| cx.names.expression_type(cx.program, cx.at(n)));
        let mut found = Ty::Integer;
        for ty in ty {
            match ty {
                Ty::Integer => {}
                // An external type of the standard package.
                Ty::Unknown => found = unknown_bound(cx, range).unwrap_or(Ty::Unknown),
                known => found = known,
            }
        }
        return Some((low, high, found));
    }
    let prefix = text.split('\'').next()?.trim().to_string();
    let node = tree
        .role(range, "prefix")
        .or_else(|| tree.role(range, "range_attribute_reference"))?;
    let id = cx.names.meaning(cx.program, cx.at(node))?;
    let is_type = matches!(cx.names.entity(id).kind, Kind::Type | Kind::Subtype);
    let ty = if is_type {
        Ty::Named(id)
    } else {
        cx.names
            .index(cx.program, cx.names.type_of(cx.program, id), 0)
    };
    let dimension = text
        .split('(')
        .nth(1)
        .map_or(String::new(), |d| format!(" ({d}"));
    Some((
        format!("{prefix}'First{dimension}"),
        format!("{prefix}'Last{dimension}"),
        ty,
    ))
}

/// Bounds that are constants of the standard integer types.
fn unknown_bound(cx: &Context, range: NodeId) -> Option<Ty> {
    let all_integer = cx.meanings(cx.at(range)).iter().all(|&(_, e)| {
        let at = cx.names.entity(e).at;
        let source = &cx.program.sources[at.file];
        source.tree.kind(at.node) == "number_declaration"
            || source.tree.role(at.node, "subtype_mark").is_some_and(|m| {
                ["integer", "natural", "positive"].contains(&Names::key(source.text(m)).as_str())
            })
    });
    all_integer.then_some(Ty::Integer)
}
