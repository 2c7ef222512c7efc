//! Types in C, and their descriptors.

use antiphon_lang::c::string;

use super::Emitter;
use crate::program::{Expr, ExprKind, Field, SizedType, TypeId, TypeKind, Value, Width};

/// The most values of an enumeration that fit into a byte.
const IN_A_BYTE: usize = 256;

impl Emitter<'_> {
    /// Returns whether values are C values for C operators, or are passed by value.
    pub(super) fn is_scalar(&self, ty: TypeId) -> bool {
        use TypeKind::{
            Boolean, Char, Enumeration, Error, Function, Integer, Nil, NodeName, Parameter, Real,
        };
        matches!(
            self.program.kind(ty),
            Integer(_)
                | Real(_)
                | Boolean
                | Char
                | Enumeration(_)
                | Nil
                | NodeName { .. }
                | Function { .. }
                | Error
                | Parameter(_)
        )
    }

    /// Returns whether copying the bytes of a value copies it.
    pub(super) fn is_plain(&self, ty: TypeId) -> bool {
        let is_own = |kind: &TypeKind| {
            matches!(
                kind,
                TypeKind::Array { .. }
                    | TypeKind::Set(_)
                    | TypeKind::Bag(_)
                    | TypeKind::Graph { .. }
                    | TypeKind::Object(_)
            )
        };
        !self.program.has_part(ty, &is_own)
    }

    /// Returns whether the initial value differs from zeros.
    pub(super) fn has_init(&self, ty: TypeId) -> bool {
        match self.program.kind(ty) {
            TypeKind::Array { bounds, .. } => !bounds.is_empty(),
            TypeKind::Record(fields) | TypeKind::Graph { fields, .. } => {
                fields.iter().any(|field| self.sized_has_init(&field.of))
            }
            TypeKind::Union { tag, .. } => tag.of.tag.is_some(),
            TypeKind::Object(_) => true,
            _ => false,
        }
    }

    pub(super) fn sized_has_init(&self, of: &SizedType) -> bool {
        !of.bounds.is_empty() || of.tag.is_some() || self.has_init(of.ty)
    }

    /// Returns the C type of values, and defines it on first use.
    pub(super) fn c_type(&mut self, ty: TypeId) -> String {
        match self.program.kind(ty) {
            TypeKind::Integer(Width::Short) => "int16_t".into(),
            TypeKind::Integer(Width::Normal) => "int32_t".into(),
            TypeKind::Integer(Width::Long) => "int64_t".into(),
            TypeKind::Real(Width::Short) => "float".into(),
            TypeKind::Real(_) => "double".into(),
            TypeKind::Boolean | TypeKind::Char => "orca_byte".into(),
            TypeKind::Enumeration(names) if names.len() > IN_A_BYTE => "uint32_t".into(),
            TypeKind::Enumeration(_) => "orca_byte".into(),
            TypeKind::Nil | TypeKind::NodeName { .. } => "orca_node".into(),
            TypeKind::Function { .. } => "orca_function".into(),
            TypeKind::Array { indices, .. } => format!("orca_array{}", indices.len()),
            TypeKind::Set(_) | TypeKind::Bag(_) => "orca_set".into(),
            TypeKind::Object(_) if self.partitioned(ty).is_some() => "orca_partitioned".into(),
            TypeKind::Object(_) => "orca_object".into(),
            TypeKind::Record(_) => {
                self.define(ty);
                format!("struct r{}", ty.0)
            }
            TypeKind::Union { .. } => {
                self.define(ty);
                format!("struct u{}", ty.0)
            }
            TypeKind::Graph { .. } => {
                self.define(ty);
                format!("struct g{}", ty.0)
            }
            TypeKind::Error | TypeKind::Parameter(_) => "int".into(),
        }
    }

    fn define(&mut self, ty: TypeId) {
        if !self.defined.insert(ty) {
            return;
        }
        let program = self.program;
        let text = match program.kind(ty) {
            TypeKind::Record(fields) => {
                let fields = self.members(fields);
                format!("struct r{} {{\n{fields}}};\n", ty.0)
            }
            TypeKind::Union { alternatives, .. } => {
                let fields: Vec<Field> = alternatives.iter().map(|(_, it)| it.clone()).collect();
                let fields = self.members(&fields);
                format!(
                    "struct u{} {{\n    orca_tag tag;\n    union {{\n{fields}    }} as;\n}};\n",
                    ty.0
                )
            }
            TypeKind::Graph { fields, nodes } => {
                let fields = self.members(fields);
                let nodes = self.members(nodes);
                format!(
                    "struct g{0} {{\n    orca_graph graph;\n{fields}}};\nstruct n{0} {{\n{nodes}}};\n",
                    ty.0
                )
            }
            _ => return,
        };
        self.structs += &text;
    }

    fn members(&mut self, fields: &[Field]) -> String {
        let mut text = String::new();
        for (index, field) in fields.iter().enumerate() {
            let c_type = self.c_type(field.of.ty);
            text += &format!("    {c_type} {};\n", field_name(index, field));
        }
        // C has no empty structs.
        if fields.is_empty() {
            text += "    char nothing;\n";
        }
        text
    }

    /// Returns the address of a type's descriptor, and defines it on first use.
    pub(super) fn descriptor(&mut self, ty: TypeId) -> String {
        let known = match self.program.kind(ty) {
            TypeKind::Integer(Width::Short) => "shortint",
            TypeKind::Integer(Width::Normal) => "integer",
            TypeKind::Integer(Width::Long) => "longint",
            TypeKind::Real(Width::Short) => "shortreal",
            TypeKind::Real(_) => "real",
            TypeKind::Boolean => "boolean",
            TypeKind::Char => "char",
            TypeKind::Nil | TypeKind::NodeName { .. } => "node",
            TypeKind::Function { .. } => "function",
            _ => "",
        };
        if !known.is_empty() {
            return format!("&orca_type_{known}");
        }
        let name = format!("t{}", ty.0);
        if self.described.insert(name.clone()) {
            let description = self.description(ty);
            self.describe(&name, ty, &description);
        }
        format!("&{name}")
    }

    fn describe(&mut self, name: &str, ty: TypeId, description: &str) {
        let c_type = self.c_type(ty);
        let own_name = string(self.program.ty(ty).name.as_bytes());
        let (is_plain, has_init) = (self.is_plain(ty), self.has_init(ty));
        self.announced += &format!("static const struct orca_type {name};\n");
        if !is_plain {
            self.announced += &format!(
                "static inline void d{}(void *it) {{ orca_destroy(&{name}, it); }}\n",
                ty.0
            );
        }
        let init = match has_init {
            true => self.initial_function(&format!("i{}", ty.0), ty),
            false => "0".into(),
        };
        self.descriptors += &format!(
            "static const struct orca_type {name} = {{\n    .name = {own_name}, .is_plain = {is_plain}, .has_init = {has_init}, .size = sizeof({c_type}), .init = {init},\n    {description}}};\n"
        );
    }

    fn description(&mut self, ty: TypeId) -> String {
        let program = self.program;
        match program.kind(ty) {
            TypeKind::Enumeration(names) => {
                format!(".kind = ORCA_CHOICE, .count = {}", names.len())
            }
            TypeKind::Array {
                indices, element, ..
            } => {
                let element = self.descriptor(*element);
                let count = indices.len();
                format!(".kind = ORCA_ARRAY, .dimensions = {count}, .element = {element}")
            }
            TypeKind::Set(of) => format!(".kind = ORCA_SET, .element = {}", self.descriptor(*of)),
            TypeKind::Bag(of) => format!(".kind = ORCA_BAG, .element = {}", self.descriptor(*of)),
            TypeKind::Record(fields) => {
                let list = format!("l{}", ty.0);
                let owner = format!("struct r{}", ty.0);
                self.c_type(ty);
                self.field_list(&list, &owner, fields, &field_names(fields, ""), &[]);
                format!(
                    ".kind = ORCA_RECORD, .count = {}, .fields = {list}",
                    fields.len()
                )
            }
            TypeKind::Union { alternatives, .. } => {
                let list = format!("l{}", ty.0);
                let owner = format!("struct u{}", ty.0);
                self.c_type(ty);
                let fields: Vec<Field> = alternatives.iter().map(|(_, it)| it.clone()).collect();
                let tags: Vec<i64> = alternatives.iter().map(|(it, _)| *it).collect();
                self.field_list(&list, &owner, &fields, &field_names(&fields, "as."), &tags);
                format!(
                    ".kind = ORCA_UNION, .count = {}, .fields = {list}",
                    fields.len()
                )
            }
            TypeKind::Graph { fields, nodes } => {
                let list = format!("l{}", ty.0);
                let owner = format!("struct g{}", ty.0);
                self.c_type(ty);
                self.field_list(&list, &owner, fields, &field_names(fields, ""), &[]);
                let node_list = format!("ln{}", ty.0);
                let node_owner = format!("struct n{}", ty.0);
                self.field_list(&node_list, &node_owner, nodes, &field_names(nodes, ""), &[]);
                let is_plain = nodes.iter().all(|field| self.is_plain(field.of.ty));
                let init = self.initial_of_fields(&format!("in{}", ty.0), &node_owner, nodes);
                self.descriptors += &format!(
                    "static const struct orca_type tn{0} = {{\n    .name = \"a node\", .kind = ORCA_RECORD, .is_plain = {is_plain}, .has_init = {init} != 0, .init = {init}, .size = sizeof(struct n{0}),\n    .count = {1}, .fields = {node_list}}};\n",
                    ty.0,
                    nodes.len()
                );
                format!(
                    ".kind = ORCA_GRAPH, .count = {}, .fields = {list}, .element = &tn{}",
                    fields.len(),
                    ty.0
                )
            }
            TypeKind::Object(unit) => {
                let what = match self.partitioned(ty) {
                    Some(_) => "partitioned",
                    None => "object",
                };
                let number = unit.0;
                format!(".kind = ORCA_CUSTOM, .custom = &orca_{what}_custom, .data = &c{number}")
            }
            _ => ".kind = ORCA_INTEGER".into(),
        }
    }

    /// Writes the fields of a struct as a table.
    pub(super) fn field_list(
        &mut self,
        list: &str,
        owner: &str,
        fields: &[Field],
        members: &[String],
        tags: &[i64],
    ) {
        let mut rows = String::new();
        for (index, field) in fields.iter().enumerate() {
            let descriptor = self.descriptor(field.of.ty);
            let name = string(field.name.as_bytes());
            let member = &members[index];
            let tag = tags.get(index).copied().unwrap_or_default();
            let has_own = !field.of.bounds.is_empty() || field.of.tag.is_some();
            let init = match has_own {
                true => self.initial_of_alternative(&format!("{list}_{index}"), &field.of),
                false => "0".into(),
            };
            rows += &format!(
                "    {{{name}, {descriptor}, offsetof({owner}, {member}), {tag}, {init}}},\n"
            );
        }
        self.announced += &format!("static const struct orca_field {list}[];\n");
        self.descriptors +=
            &format!("static const struct orca_field {list}[] = {{\n{rows}    {{0}}}};\n");
    }

    /// Writes the function that turns zeros into the initial value of a type. Returns its name.
    fn initial_function(&mut self, name: &str, ty: TypeId) -> String {
        let program = self.program;
        match program.kind(ty) {
            TypeKind::Record(fields) => {
                self.initial_of_fields(name, &format!("struct r{}", ty.0), fields)
            }
            TypeKind::Graph { fields, .. } => {
                self.initial_of_fields(name, &format!("struct g{}", ty.0), fields)
            }
            TypeKind::Object(_) if self.partitioned(ty).is_some() => {
                self.initial_of_alternative(name, &whole(ty))
            }
            TypeKind::Object(unit) => {
                let line = format!(
                    "    *(orca_object *)value = orca_object_new(&c{});\n",
                    unit.0
                );
                self.initial(name, &line)
            }
            TypeKind::Union { tag, .. } => {
                let mut of = whole(ty);
                of.tag = tag.of.tag;
                self.initial_of_alternative(name, &of)
            }
            _ => self.initial_of_alternative(name, &whole(ty)),
        }
    }

    fn initial_of_alternative(&mut self, name: &str, of: &SizedType) -> String {
        self.check_global_bounds(of);
        let c_type = self.c_type(of.ty);
        let here = self.here.take();
        let (body, ()) = self.apart(1, |it| it.init(&format!("(*({c_type} *)value)"), of));
        self.here = here;
        self.initial(name, &body)
    }

    /// Writes the function that makes the initial values of fields. Returns its name, or 0 if all
    /// of them are zeros.
    pub(super) fn initial_of_fields(
        &mut self,
        name: &str,
        owner: &str,
        fields: &[Field],
    ) -> String {
        let names = field_names(fields, "");
        self.initial_of_members(name, owner, fields, &names)
    }

    pub(super) fn initial_of_members(
        &mut self,
        name: &str,
        owner: &str,
        fields: &[Field],
        members: &[String],
    ) -> String {
        if !fields.iter().any(|field| self.sized_has_init(&field.of)) {
            return "0".into();
        }
        let here = self.here.take();
        let (body, ()) = self.apart(1, |it| {
            for (field, member) in fields.iter().zip(members) {
                if it.sized_has_init(&field.of) {
                    it.check_global_bounds(&field.of);
                    it.init(&format!("(({owner} *)value)->{member}"), &field.of);
                }
            }
        });
        self.here = here;
        self.initial(name, &body)
    }

    fn initial(&mut self, name: &str, body: &str) -> String {
        self.announced += &format!("static void {name}(void *value);\n");
        self.initials += &format!("static void {name}(void *value)\n{{\n{body}}}\n");
        name.to_owned()
    }

    /// Writes the initial value of a variable, in memory that holds none.
    pub(super) fn init(&mut self, place: &str, of: &SizedType) {
        let program = self.program;
        let descriptor = match self.sized_has_init(of) {
            true => self.descriptor(of.ty),
            false => return self.line(format!("memset(&{place}, 0, sizeof {place});")),
        };
        self.enter_environment();
        if let Some(unit) = self.partitioned(of.ty) {
            let (at, bounds) = match of.bounds.is_empty() {
                true => ("0".into(), "0".into()),
                false => {
                    let (at, values) = self.bound_values(&of.bounds);
                    (at, format!("(const long long[]){{{values}}}"))
                }
            };
            return self.line(format!(
                "{place} = orca_partitioned_new({at}, &c{}, {bounds});",
                unit.0
            ));
        }
        if let TypeKind::Array { bounds, .. } = program.kind(of.ty) {
            let levels: Vec<Vec<(Expr, Expr)>> = match bounds.is_empty() {
                true => of.bounds.clone(),
                false => vec![bounds.clone()],
            };
            let (at, values) = self.bound_values(&levels);
            let count = levels.len();
            return self.line(format!(
                "orca_array_init({at}, {descriptor}, &{place}, {count}, (const long long[]){{{values}}});"
            ));
        }
        match of.tag {
            Some(tag) => {
                self.line(format!(
                    "orca_union_init(0, {descriptor}, &{place}, {tag});"
                ));
            }
            None => self.line(format!("orca_init({descriptor}, &{place});")),
        }
    }

    /// Returns the place of bounds in the source, and their values.
    fn bound_values(&mut self, levels: &[Vec<(Expr, Expr)>]) -> (String, String) {
        let span = levels.iter().flatten().map(|(low, _)| low.span).next();
        let at = span.map_or("0".into(), |span| self.at(span));
        let mut values = Vec::new();
        for (low, high) in levels.iter().flatten() {
            values.push(self.value(low));
            values.push(self.value(high));
        }
        (at, values.join(", "))
    }

    /// Returns the attribute of a variable that owns memory.
    pub(super) fn cleanup(&mut self, ty: TypeId) -> String {
        if self.is_plain(ty) {
            return String::new();
        }
        self.descriptor(ty);
        format!(" ORCA_OWNED(d{})", ty.0)
    }

    /// Returns the first index of an aggregate's dimension.
    pub(super) fn first_index(&self, ty: TypeId, dimension: usize) -> i64 {
        let TypeKind::Array {
            indices, bounds, ..
        } = self.program.kind(ty)
        else {
            return 1;
        };
        if let Some((low, _)) = bounds.get(dimension)
            && let ExprKind::Constant(Value::Integer(low)) = low.kind
        {
            return low;
        }
        match self.program.kind(indices[dimension]) {
            TypeKind::Integer(_) => 1,
            _ => 0,
        }
    }

    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        self.out.line(line);
    }
}

/// Returns a type without bounds of its own.
fn whole(ty: TypeId) -> SizedType {
    SizedType {
        ty,
        bounds: Vec::new(),
        tag: None,
    }
}

/// Returns the name of a field in C.
pub(super) fn field_name(index: usize, field: &Field) -> String {
    format!("m{index}_{}", field.name)
}

/// Returns the names of all fields, with their prefix.
fn field_names(fields: &[Field], within: &str) -> Vec<String> {
    let named = fields.iter().enumerate();
    named
        .map(|(index, field)| format!("{within}{}", field_name(index, field)))
        .collect()
}
