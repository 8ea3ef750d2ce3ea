//! Turns the document's operations into tools: their inputs, where each goes in the request, and their output.

use std::collections::HashSet;

use egress::http::is_framing_header;
use http::{HeaderName, Method};
use serde_json::{Map, Value, json};

use crate::document::{Document, Fault, below};
use crate::schema::{Bundle, Direction};

/// All schemas of a document together, in nodes.
const MAX_NODES: usize = 4_000_000;

const METHODS: [&str; 7] = ["get", "put", "post", "delete", "options", "head", "patch"];

/// Header parameters that OpenAPI says to ignore.
const IGNORED: [&str; 4] = ["accept", "content-type", "authorization", "cookie"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    Path,
    Query,
    Header,
    Cookie,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Form,
    Simple,
    Label,
    Matrix,
    Space,
    Pipe,
    Deep,
    /// One JSON text.
    Json,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    /// The property of the input.
    pub input: String,
    pub name: String,
    pub location: Location,
    pub style: Style,
    pub explode: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    Json,
    Form,
    Text,
}

#[derive(Clone, Debug)]
pub struct BodyPlan {
    pub input: String,
    pub kind: BodyKind,
    pub content_type: String,
}

/// How a call becomes a request.
#[derive(Clone, Debug)]
pub struct Operation {
    pub method: Method,
    /// The path with `{name}` in it.
    pub path: String,
    pub parameters: Vec<Parameter>,
    pub body: Option<BodyPlan>,
}

/// A tool as an MCP server would list it, and how it is called.
pub struct OperationTool {
    pub name: String,
    pub listed: Value,
    pub operation: Operation,
}

/// An operation that cannot be offered, by the name that it would have had.
pub type Unusable = (String, Fault);

/// Every operation of a document; those that cannot be offered, with why. `fixed` are headers that the config sets.
pub fn read(
    document: &Document,
    fixed: &HashSet<String>,
) -> Result<(Vec<OperationTool>, Vec<Unusable>), Fault> {
    let paths = document.part("paths");
    let paths = match paths {
        Value::Object(paths) => paths,
        Value::Null => return Ok((Vec::new(), Vec::new())),
        _ => return Err(Fault::new("#/paths", "it is no object")),
    };
    let mut left = MAX_NODES;
    let (mut offered, mut faults) = (Vec::new(), Vec::new());
    for (path, item) in paths {
        let at = below("#/paths", path);
        let item = match document.follow(item, &at) {
            Ok(item) => item,
            Err(fault) => {
                faults.push((path.clone(), fault));
                continue;
            }
        };
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            let at = below(&at, method);
            let name = name(operation, method, path);
            let reader = Reader { document, fixed, item, operation, at: &at };
            match reader.read(&name, method, path, &mut left) {
                Ok(one) => offered.push(one),
                Err(fault) => faults.push((name, fault)),
            }
        }
    }
    Ok((offered, faults))
}

/// The operation's own name, or one made of its method and path.
fn name(operation: &Value, method: &str, path: &str) -> String {
    let usable = |text: &str| -> String {
        let mapped = text.chars().map(|c| match c {
            c if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') => c,
            _ => '_',
        });
        mapped
            .collect::<String>()
            .split('_')
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("_")
    };
    match operation["operationId"].as_str().map(usable) {
        Some(id) if !id.is_empty() => id,
        _ => usable(&format!("{method}_{path}")),
    }
}

struct Reader<'a> {
    document: &'a Document,
    fixed: &'a HashSet<String>,
    item: &'a Value,
    operation: &'a Value,
    at: &'a str,
}

/// The input schema in the making.
#[derive(Default)]
struct Inputs {
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl Inputs {
    /// Adds a property, under another name if its own is taken.
    fn add(&mut self, name: &str, suffix: &str, schema: Value, required: bool) -> String {
        let mut input = name.to_owned();
        while self.properties.contains_key(&input) {
            input = format!("{input}_{suffix}");
        }
        self.properties.insert(input.clone(), schema);
        if required {
            self.required.push(json!(input));
        }
        input
    }
}

impl Reader<'_> {
    fn fault(&self, why: impl Into<String>) -> Fault {
        Fault::new(self.at, why)
    }

    fn read(
        &self,
        name: &str,
        method: &str,
        path: &str,
        left: &mut usize,
    ) -> Result<OperationTool, Fault> {
        if [self.operation, self.item].iter().any(|part| part.get("servers").is_some()) {
            let why = "it names other servers, which are not supported";
            return Err(self.fault(why));
        }
        let mut bundle = Bundle::new(self.document, Direction::Request, left);
        let mut inputs = Inputs::default();
        let parameters = self.parameters(&mut bundle, &mut inputs)?;
        self.check_path(path, &parameters)?;
        let body = self.body(&mut bundle, &mut inputs)?;
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(inputs.properties));
        schema.insert("required".to_owned(), Value::Array(inputs.required));
        schema.insert("additionalProperties".to_owned(), json!(false));
        let input_schema = bundle.close(schema)?;
        let output_schema = self.output(left)?;
        let method: Method =
            method.to_uppercase().parse().map_err(|_| self.fault("its method is not known"))?;
        let mut listed = json!({
            "name": name,
            "description": self.description(&method, path),
            "inputSchema": input_schema,
            "annotations": annotations(&method),
        });
        if let Some(title) = self.operation["summary"].as_str() {
            listed["title"] = json!(title);
        }
        if let Some(output) = output_schema {
            listed["outputSchema"] = output;
        }
        let operation = Operation { method, path: path.to_owned(), parameters, body };
        Ok(OperationTool { name: name.to_owned(), listed, operation })
    }

    fn description(&self, method: &Method, path: &str) -> String {
        let said =
            |key: &str| self.operation[key].as_str().map(str::trim).filter(|s| !s.is_empty());
        // The method and path are pinned with the description, and are useful to a model.
        let request_line = format!("{method} {path}");
        let text = said("description")
            .or(said("summary"))
            .map_or_else(|| request_line.clone(), |text| format!("{text}\n\n{request_line}"));
        if self.operation["deprecated"] == true { format!("Deprecated. {text}") } else { text }
    }

    /// The operation's parameters and those of its path that it does not replace.
    fn parameters(
        &self,
        bundle: &mut Bundle<'_>,
        inputs: &mut Inputs,
    ) -> Result<Vec<Parameter>, Fault> {
        let mut seen = HashSet::new();
        let mut parameters = Vec::new();
        for owner in [self.operation, self.item] {
            for written in owner["parameters"].as_array().into_iter().flatten() {
                let written = self.document.follow(written, self.at)?;
                let name = written["name"]
                    .as_str()
                    .ok_or_else(|| self.fault("a parameter has no name"))?;
                let within = written["in"].as_str().unwrap_or_default();
                if seen.insert((name, within))
                    && let Some(parameter) =
                        self.parameter(written, name, within, bundle, inputs)?
                {
                    parameters.push(parameter);
                }
            }
        }
        Ok(parameters)
    }

    fn parameter(
        &self,
        written: &Value,
        name: &str,
        within: &str,
        bundle: &mut Bundle<'_>,
        inputs: &mut Inputs,
    ) -> Result<Option<Parameter>, Fault> {
        let refused = |why: &str| self.fault(format!("the parameter `{name}` {why}"));
        let location = match within {
            "path" => Location::Path,
            "query" => Location::Query,
            "header" => Location::Header,
            "cookie" => Location::Cookie,
            _ => return Err(refused("has an unknown `in`")),
        };
        if location == Location::Header {
            let lower = name.to_ascii_lowercase();
            // A caller must not replace what the operator set.
            if IGNORED.contains(&lower.as_str()) || self.fixed.contains(&lower) {
                return Ok(None);
            }
            if is_framing_header(name) || HeaderName::try_from(name).is_err() {
                return Err(refused("cannot be a header of a caller's"));
            }
        }
        if location == Location::Cookie
            && !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        {
            return Err(refused("cannot be a cookie's name"));
        }
        let content = written["content"].as_object().and_then(|content| content.iter().next());
        let (schema, json_text) = match content {
            Some((kind, media)) if is_json(kind) => (media.get("schema"), true),
            Some(_) => return Err(refused("is of a content type that is not known")),
            None => (written.get("schema"), false),
        };
        let mut schema = match schema {
            Some(schema) => bundle.convert(schema, self.at, 0)?,
            None => json!({}),
        };
        if let Some(said) = written["description"].as_str()
            && let Value::Object(map) = &mut schema
        {
            map.insert("description".to_owned(), json!(said));
        }
        let style = match (written["style"].as_str(), location) {
            _ if json_text => Style::Json,
            (None | Some("form"), Location::Query | Location::Cookie) => Style::Form,
            (None | Some("simple"), Location::Path | Location::Header) => Style::Simple,
            (Some("label"), Location::Path) => Style::Label,
            (Some("matrix"), Location::Path) => Style::Matrix,
            (Some("spaceDelimited"), Location::Query) => Style::Space,
            (Some("pipeDelimited"), Location::Query) => Style::Pipe,
            (Some("deepObject"), Location::Query) => Style::Deep,
            _ => return Err(refused("has a style that its `in` does not allow")),
        };
        let explode = written["explode"].as_bool().unwrap_or(style == Style::Form);
        let required = location == Location::Path || written["required"] == true;
        let input = inputs.add(name, within, schema, required);
        let name = name.to_owned();
        Ok(Some(Parameter { input, name, location, style, explode }))
    }

    /// Checks that every `{name}` has its parameter, and that no character could end the path.
    fn check_path(&self, path: &str, parameters: &[Parameter]) -> Result<(), Fault> {
        let bad =
            |c: char| c.is_control() || c.is_whitespace() || matches!(c, '?' | '#' | '\\' | '%');
        if !path.starts_with('/') || path.contains(bad) {
            return Err(self.fault("its path is not one that can be called"));
        }
        let mut rest = path.to_owned();
        for parameter in parameters.iter().filter(|parameter| parameter.location == Location::Path)
        {
            let template = format!("{{{}}}", parameter.name);
            if !rest.contains(&template) {
                let why = format!("its path does not use the parameter `{}`", parameter.name);
                return Err(self.fault(why));
            }
            rest = rest.replace(&template, "x");
        }
        if rest.contains(['{', '}']) {
            return Err(self.fault("its path uses a parameter that is not declared"));
        }
        Ok(())
    }

    fn body(
        &self,
        bundle: &mut Bundle<'_>,
        inputs: &mut Inputs,
    ) -> Result<Option<BodyPlan>, Fault> {
        let Some(written) = self.operation.get("requestBody") else { return Ok(None) };
        let written = self.document.follow(written, self.at)?;
        let required = written["required"] == true;
        let Some(content) = written["content"].as_object() else { return Ok(None) };
        let kind_of = |kind: &str| match essence(kind) {
            kind if is_json(kind) => Some(BodyKind::Json),
            "application/x-www-form-urlencoded" => Some(BodyKind::Form),
            kind if kind.starts_with("text/") => Some(BodyKind::Text),
            _ => None,
        };
        let known = content.iter().filter_map(|(name, media)| Some((kind_of(name)?, name, media)));
        let best = known.min_by_key(|(kind, _, _)| *kind as u8);
        let Some((kind, content_type, media)) = best else {
            if required {
                return Err(self.fault("its body is of no kind that can be sent"));
            }
            return Ok(None);
        };
        let schema = match media.get("schema") {
            Some(schema) if kind != BodyKind::Text => bundle.convert(schema, self.at, 0)?,
            _ if kind == BodyKind::Text => json!({"type": "string"}),
            _ => json!({}),
        };
        let input = inputs.add("body", "content", schema, required);
        Ok(Some(BodyPlan { input, kind, content_type: content_type.replace('*', "json") }))
    }

    /// The schema of the answer, if there is only one.
    fn output(&self, left: &mut usize) -> Result<Option<Value>, Fault> {
        let Some(responses) = self.operation["responses"].as_object() else { return Ok(None) };
        let mut good = responses.iter().filter(|(status, _)| status.starts_with('2'));
        let (Some((_, only)), None) = (good.next(), good.next()) else { return Ok(None) };
        let only = self.document.follow(only, self.at)?;
        let Some(content) = only["content"].as_object() else { return Ok(None) };
        let mut kinds = content.iter();
        let (Some((kind, media)), None) = (kinds.next(), kinds.next()) else { return Ok(None) };
        let Some(schema) = media.get("schema").filter(|_| is_json(essence(kind))) else {
            return Ok(None);
        };
        let mut bundle = Bundle::new(self.document, Direction::Response, left);
        match bundle.convert(schema, self.at, 0)? {
            Value::Object(map) => bundle.close(map).map(Some),
            _ => Ok(None),
        }
    }
}

fn annotations(method: &Method) -> Value {
    match *method {
        Method::GET | Method::HEAD | Method::OPTIONS => json!({"readOnlyHint": true}),
        Method::DELETE => {
            json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": true})
        }
        Method::PUT => json!({"readOnlyHint": false, "idempotentHint": true}),
        _ => json!({"readOnlyHint": false}),
    }
}

/// A content type without its parameters.
pub fn essence(kind: &str) -> &str {
    kind.split(';').next().unwrap_or(kind).trim()
}

pub fn is_json(kind: &str) -> bool {
    kind == "application/json"
        || kind == "application/*"
        || kind == "*/*"
        || kind.ends_with("+json")
}
