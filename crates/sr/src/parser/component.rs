//! Resources and globals.

use antiphon_lang::{Diagnostic, Span};

use super::{Parse, Parser};
use crate::syntax::{Body, Component, ComponentKind, Item, ItemKind, Name, Parameter};
use crate::token::Kind;

impl Parser {
    pub(super) fn components(&mut self) -> Vec<Component> {
        let mut components = Vec::new();
        loop {
            self.skip_separators();
            if self.cursor.is(&Kind::End) {
                return components;
            }
            match self.component() {
                Ok(component) => components.push(component),
                Err(_) => self.skip_to_component(),
            }
        }
    }

    fn skip_to_component(&mut self) {
        self.cursor.advance();
        while !matches!(
            self.cursor.kind(),
            Kind::Resource | Kind::Global | Kind::End
        ) {
            self.cursor.advance();
        }
    }

    fn component(&mut self) -> Parse<Component> {
        let kind = match self.cursor.kind() {
            Kind::Resource => ComponentKind::Resource,
            Kind::Global => ComponentKind::Global,
            Kind::Body => return self.separate_body(),
            _ => return Err(self.unexpected("\"resource\" or \"global\"")),
        };
        self.cursor.advance();
        let name = self.name("the component's name")?;
        // Parameters follow at once if specification and body are one.
        if self.cursor.is(&Kind::LeftParen) {
            let parameters = self.component_parameters(kind)?;
            let items = self.items(true);
            self.component_end(&name)?;
            return Ok(Component {
                kind,
                name,
                parameters,
                specification: Vec::new(),
                body: Body::Items(items),
            });
        }
        let specification = self.specification(kind);
        self.after_specification(kind, name, specification)
    }

    fn after_specification(
        &mut self,
        kind: ComponentKind,
        name: Name,
        specification: Vec<Item>,
    ) -> Parse<Component> {
        let mut parameters = Vec::new();
        let body = if self.cursor.take(&Kind::Body) {
            self.end_name(&name);
            if self.cursor.is(&Kind::LeftParen) {
                parameters = self.component_parameters(kind)?;
            } else if kind == ComponentKind::Resource {
                let error =
                    Diagnostic::error(self.cursor.last_span(), "a resource has a parameter list");
                self.report(error.help("write () if it has no parameters"));
            }
            if self.cursor.take(&Kind::Separate) {
                Body::Separate
            } else {
                let items = self.items(true);
                self.component_end(&name)?;
                Body::Items(items)
            }
        } else {
            self.component_end(&name)?;
            Body::None
        };
        Ok(Component {
            kind,
            name,
            parameters,
            specification,
            body,
        })
    }

    fn separate_body(&mut self) -> Parse<Component> {
        self.cursor.advance();
        let name = self.name("the name of the component that this is the body of")?;
        if self.cursor.is(&Kind::LeftParen) {
            let start = self.cursor.span();
            self.parameters()?;
            let error = Diagnostic::error(
                self.cursor.since(start),
                "a body that stands apart has no parameters",
            );
            self.report(error.help(format!(
                "write body {}: its parameters are those before separate",
                name.text
            )));
        }
        let items = self.items(true);
        self.component_end(&name)?;
        Ok(Component {
            kind: ComponentKind::SeparateBody,
            name,
            parameters: Vec::new(),
            specification: Vec::new(),
            body: Body::Items(items),
        })
    }

    fn component_end(&mut self, name: &Name) -> Parse<()> {
        self.expect(&Kind::EndWord, &format!("of {}", name.text))?;
        self.end_name(name);
        Ok(())
    }

    fn component_parameters(&mut self, kind: ComponentKind) -> Parse<Vec<Parameter>> {
        let start = self.cursor.span();
        let parameters = self.parameters()?;
        if kind == ComponentKind::Global && !parameters.is_empty() {
            let span = self.cursor.since(start);
            let error = Diagnostic::error(span, "a global has no parameters");
            self.report(error.help("remove the list; globals are created by the program's start"));
        }
        Ok(parameters)
    }

    fn specification(&mut self, kind: ComponentKind) -> Vec<Item> {
        let items = self.items_until(true, |k| matches!(k, Kind::Body | Kind::EndWord));
        for item in &items {
            if let Some(message) = not_for_specification(&item.kind, kind) {
                self.report(Diagnostic::error(item.span, message));
            }
        }
        items
    }

    /// Parses items up to their end.
    pub(super) fn items(&mut self, is_component: bool) -> Vec<Item> {
        self.items_until(is_component, super::ends_items)
    }

    fn items_until(&mut self, is_component: bool, ends: impl Fn(&Kind) -> bool) -> Vec<Item> {
        let mut items = Vec::new();
        loop {
            self.skip_separators();
            if ends(self.cursor.kind()) || super::ends_items(self.cursor.kind()) {
                return items;
            }
            if is_component && self.cursor.is(&Kind::Body) {
                self.second_body();
                continue;
            }
            let start = self.cursor.span();
            match self.item(is_component) {
                Ok(kind) => {
                    let span = self.cursor.since(start);
                    items.push(Item { kind, span });
                    self.end_of_item(&ends);
                }
                Err(_) => {
                    let before = self.cursor.position();
                    self.recover();
                    if self.cursor.position() == before
                        && !super::ends_items(self.cursor.kind())
                        && !self.cursor.is(&Kind::Separator)
                    {
                        self.cursor.advance();
                    }
                }
            }
        }
    }

    /// Skips a head of a body if the body has already begun.
    fn second_body(&mut self) {
        let start = self.cursor.span();
        self.cursor.advance();
        let name = match self.cursor.kind() {
            Kind::Name(name) => name.clone(),
            _ => String::new(),
        };
        self.recover();
        let error = Diagnostic::error(
            self.cursor.since(start),
            "the body has begun: a resource whose head has parameters has no other",
        );
        self.report(error.help(format!(
            "write resource {name} without parameters before the specification, and body {name} with them here; a body that stands apart has none: body {name}"
        )));
    }

    /// Expects a separator after an item, or the end of the items.
    fn end_of_item(&mut self, ends: &impl Fn(&Kind) -> bool) {
        let is_good = self.cursor.is(&Kind::Separator)
            || ends(self.cursor.kind())
            || super::ends_items(self.cursor.kind());
        if !is_good {
            let found = self.cursor.kind().shown();
            let error =
                Diagnostic::error(self.cursor.span(), format!("{found} does not belong here"));
            let help = match self.habit().or_else(|| self.foreign_statement()) {
                Some(help) => help,
                None if self.cursor.is(&Kind::Region) => {
                    "a region stands after the head of a process, or after a create with its arguments".into()
                }
                None => "end the statement before it, by a new line or \";\"".into(),
            };
            self.report(error.help(help));
            self.recover();
        }
    }

    /// Returns a replacement for a statement of another language whose first word was just parsed
    /// as a name or a type.
    fn foreign_statement(&self) -> Option<String> {
        let before = &self.cursor.previous()?.kind;
        let help = match before {
            Kind::Name(name) => match &name[..] {
                "while" => "a loop is written do condition -> statements od",
                "for" => "a loop over values is written fa i := 1 to n -> statements af",
                "elsif" | "elif" => "a further part of if is written [] condition -> statements",
                "var" | "let" | "int" => "a variable is declared by var name: type",
                _ => return None,
            },
            _ => return None,
        };
        Some(help.to_string())
    }

    fn item(&mut self, is_component: bool) -> Parse<ItemKind> {
        let span = self.cursor.span();
        Ok(match self.cursor.kind() {
            Kind::Import => {
                self.cursor.advance();
                ItemKind::Import(self.comma_list(|p| p.name("a component's name"))?)
            }
            Kind::Extend => {
                self.cursor.advance();
                ItemKind::Extend(self.comma_list(|p| p.name("a component's name"))?)
            }
            Kind::Type
            | Kind::Optype
            | Kind::Var
            | Kind::Const
            | Kind::Op
            | Kind::External
            | Kind::Sem => self.declaration()?,
            Kind::Proc | Kind::Procedure | Kind::Process | Kind::Final | Kind::Initial => {
                self.implementation(is_component, span)?
            }
            _ => ItemKind::Statement(self.statement()?),
        })
    }

    fn implementation(&mut self, is_component: bool, span: Span) -> Parse<ItemKind> {
        if !is_component {
            let what = self.cursor.kind().shown();
            let error = Diagnostic::error(span, format!("{what} stands in a block"));
            self.report(error.help("declare it in the component, outside of blocks"));
        }
        match self.cursor.kind() {
            Kind::Proc => self.proc(),
            Kind::Procedure => self.procedure(),
            Kind::Process => self.process(),
            Kind::Final => {
                self.cursor.advance();
                let block = self.block()?;
                self.expect(&Kind::EndWord, "of final")?;
                self.cursor.take(&Kind::Final);
                Ok(ItemKind::Final(block))
            }
            _ => {
                self.cursor.advance();
                self.warn(
                    span,
                    "\"initial\" is treated as \"begin\"",
                    "write \"begin\"",
                );
                let block = self.block()?;
                self.expect(&Kind::EndWord, "of initial")?;
                self.cursor.take(&Kind::Initial);
                Ok(ItemKind::Statement(crate::syntax::Statement::Block(block)))
            }
        }
    }
}

/// Returns why an item is not allowed in a specification, if so.
fn not_for_specification(item: &ItemKind, kind: ComponentKind) -> Option<&'static str> {
    match item {
        ItemKind::Objects {
            is_constant: false, ..
        } if kind == ComponentKind::Resource => {
            Some("a variable stands in a resource's specification: only a global exports variables")
        }
        ItemKind::Extend(_) if kind == ComponentKind::Global => {
            Some("a global cannot extend another")
        }
        ItemKind::Proc(_)
        | ItemKind::Procedure(..)
        | ItemKind::Process(..)
        | ItemKind::Final(_)
        | ItemKind::Statement(_) => {
            Some("this belongs into the body: a specification only declares")
        }
        _ => None,
    }
}
