//! The bodies of accept statements, in the blocks that replace them.

use super::accepts::{Accepts, block_name};
use super::failing::can_fail;
use super::gate::nest;
use super::layout_of::call_list;
use super::names_inside::expanded;
use super::plan::Form;
use super::quiet;
use super::rendezvous::passed;
use crate::flow::{Site, Wait};
use crate::names::Names;
use crate::syntax::NodeId;
use crate::translate::machine;

impl Accepts<'_> {
    /// Returns the rendezvous itself.
    pub(super) fn accept(&self, wait: &Wait, site: &Site) -> Vec<String> {
        match self.plan.form {
            Form::Merged => self.merged(wait, site),
            Form::Apart | Form::Polling => self.apart(site),
        }
    }

    fn merged(&self, wait: &Wait, site: &Site) -> Vec<String> {
        let (plan, w) = (self.plan, &self.plan.words);
        let entry = &plan.entries[site.entry];
        let used = self.used(site.accept);
        let renames: Vec<String> = plan
            .fields(entry)
            .into_iter()
            .filter(|p| used.contains(&Names::key(&p.name)))
            .map(|p| {
                format!(
                    "{} : {} renames {}.{};",
                    p.name,
                    bare(&p.subtype),
                    w.data,
                    entry.field(p)
                )
            })
            .collect();
        let failed = format!(
            "{}.{} ({}, {});",
            plan.gate_in_server(),
            w.accept_failed,
            self.chosen(wait),
            w.occurrence
        );
        let mut lines = self.frame(site.accept, &renames, &[], &failed);
        if entry.has_body && !self.ends_in_requeue(site.accept) && !self.is_merged(wait, site) {
            let mut actuals = vec![self.chosen(wait)];
            if plan.has_data() {
                actuals.push(w.data.clone());
            }
            let actuals: Vec<&str> = actuals.iter().map(String::as_str).collect();
            lines.extend(call_list(
                &format!("{}.{} ", plan.gate_in_server(), w.accept_end),
                &actuals,
                ";",
            ));
        }
        lines
    }

    fn apart(&self, site: &Site) -> Vec<String> {
        let plan = self.plan;
        let entry = &plan.entries[site.entry];
        let object = plan.rendezvous(entry);
        let list = |mode| {
            let names: Vec<String> = passed(entry, mode).into_iter().map(|p| p.0).collect();
            if names.is_empty() {
                String::new()
            } else {
                format!(" ({})", names.join(", "))
            }
        };
        let locals: Vec<String> = entry
            .parameters
            .iter()
            .map(|p| format!("{} : {};", p.name, p.subtype))
            .collect();
        let begin = format!("{object}.Accept_Begin{};", list("out"));
        let end = format!("{object}.Accept_End{};", list("in"));
        let failed = format!("{object}.Accept_Failed ({});", plan.words.occurrence);
        let mut inner = vec![begin];
        inner.extend(self.frame(site.accept, &[], &[], &failed));
        if !self.ends_in_requeue(site.accept) {
            inner.push(end);
        }
        if locals.is_empty() {
            return inner;
        }
        let name = block_name(&entry.name);
        let is_named =
            expanded(&plan.cx, entry.id).any(|n| plan.cx.tree().is_within(n, site.accept));
        let (open, close) = if is_named {
            (format!("{name} : declare"), format!("end {name};"))
        } else {
            ("declare".into(), "end;".into())
        };
        let mut lines = vec![open];
        lines.extend(nest(&locals, &plan.step));
        lines.push("begin".into());
        lines.extend(nest(&inner, &plan.step));
        lines.push(close);
        lines
    }

    /// Returns the accept's body, in a block of its own if it needs one.
    fn frame(
        &self,
        accept: NodeId,
        declarations: &[String],
        before: &[String],
        failed: &str,
    ) -> Vec<String> {
        let (plan, tree) = (self.plan, self.plan.cx.tree());
        let step = &plan.step;
        let Some(handled) = tree.child(accept, "handled_sequence_of_statements") else {
            return before.to_vec();
        };
        let mut body = self.body(accept);
        let has_handlers = tree.child(handled, "exception_handler").is_some();
        let mut declarations = declarations.to_vec();
        if self.needs_procedure(accept) {
            if !declarations.is_empty() {
                declarations.push(String::new());
            }
            declarations.extend(["procedure Serve is".to_string(), "begin".into()]);
            declarations.extend(if has_handlers {
                body
            } else {
                nest(&body, step)
            });
            declarations.push("end Serve;".into());
            body = vec!["Serve;".into()];
        } else if has_handlers {
            body.insert(0, "begin".into());
            body.push("end;".into());
        }
        let mut lines = before.to_vec();
        let can_fail = can_fail(&plan.cx, accept);
        if !declarations.is_empty() {
            lines.push("declare".into());
            lines.extend(nest(&declarations, step));
        } else if !can_fail {
            if !body.iter().all(|l| l == "null;") {
                lines.extend(body);
            }
            return lines;
        }
        lines.push("begin".into());
        lines.extend(nest(&body, step));
        if can_fail {
            lines.push("exception".into());
            lines.push(format!("{step}when {} : others =>", plan.words.occurrence));
            lines.push(format!("{step}{step}{failed}"));
            lines.push(format!("{step}{step}raise;"));
        }
        lines.push("end;".into());
        lines
    }

    /// Returns the statements between `do` and `end`. Those of a handler follow, with `exception`
    /// one step further out.
    fn body(&self, accept: NodeId) -> Vec<String> {
        let tree = self.plan.cx.tree();
        let (Some(from), Some(to)) = (tree.child(accept, "do"), tree.child(accept, "end")) else {
            return vec![];
        };
        self.block(tree.end(from)..tree.start(to))
    }

    /// Returns the lower-case names that an accept's body uses, except those that an inner accept
    /// declares.
    fn used(&self, accept: NodeId) -> Vec<String> {
        let (cx, tree) = (&self.plan.cx, self.plan.cx.tree());
        let is_hidden = |node: NodeId, key: &str| {
            tree.ancestors(node)
                .take_while(|&n| n != accept)
                .filter(|&n| tree.kind(n) == "accept_statement")
                .filter_map(|n| tree.child(n, "formal_part"))
                .flat_map(|f| tree.walk(f))
                .any(|n| tree.kind(n) == "identifier" && Names::key(cx.text(n)) == key)
        };
        let handled = tree.child(accept, "handled_sequence_of_statements");
        let nodes = handled.into_iter().flat_map(|h| tree.walk(h));
        nodes
            .filter(|&n| tree.kind(n) == "identifier" && tree.field(n) != "selector_name")
            .map(|n| (n, Names::key(cx.text(n))))
            .filter(|(n, key)| !is_hidden(*n, key))
            .map(|(_, key)| key)
            .collect()
    }

    /// Whether a statement leaves an accept's body in the middle, so that it must become a
    /// procedure.
    pub(super) fn needs_procedure(&self, accept: NodeId) -> bool {
        let source = self.plan.cx.source();
        let tree = &source.tree;
        let mut leaving = machine::leaving(source, accept, "requeue_statement");
        leaving.extend(machine::leaving(source, accept, "simple_return_statement"));
        let handled = tree.child(accept, "handled_sequence_of_statements");
        let last = handled
            .and_then(|h| tree.child(h, "sequence_of_statements"))
            .and_then(|s| tree.children(s).last());
        match leaving[..] {
            [] => false,
            [one] => Some(one) != last,
            _ => true,
        }
    }

    /// Whether an accept's body always ends with a requeue.
    fn ends_in_requeue(&self, accept: NodeId) -> bool {
        let source = self.plan.cx.source();
        !machine::leaving(source, accept, "requeue_statement").is_empty()
            && !self.needs_procedure(accept)
    }

    /// Whether the end of a rendezvous can be left to the next accept, because the code between
    /// them takes no time and cannot fail.
    fn is_merged(&self, wait: &Wait, site: &Site) -> bool {
        self.depth(wait) == 0 && quiet::leads_on(&self.plan.cx, site)
    }
}

/// Returns a subtype without its null exclusion, which must not be repeated in a renaming.
fn bare(subtype: &str) -> &str {
    subtype.strip_prefix("not null ").unwrap_or(subtype)
}
