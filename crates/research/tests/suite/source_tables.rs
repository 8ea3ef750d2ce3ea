//! Compares the generated schemas and limits with the tables that the tools were specified by. What differs on purpose is
//! listed here.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use research::settings::{Sizes, Timeouts};
use research::tools;
use serde_json::{Value, json};

const TABLES: &str = include_str!("../fixtures/source-tables.txt");

/// Fields that the source does not have.
const ADDED_INPUTS: [(&str, &[&str]); 3] = [
    ("sequential_search", &["sessionId", "source"]),
    ("scrape_page", &["offset"]),
    ("search_and_scrape", &["content"]),
];
const ADDED_OUTPUTS: [(&str, &[&str]); 3] = [
    ("SourceResult", &["id", "author", "date", "citation"]),
    ("AcademicPaper", &["authors", "year", "doi", "pdfUrl"]),
    ("PipelineSummary", &["failures", "filtered"]),
];

/// The section of the tables with this heading.
fn section(heading: &str) -> Vec<&'static str> {
    let start = format!("## {heading}");
    let lines = TABLES.lines().skip_while(|line| **line != *start).skip(1);
    lines.take_while(|line| !line.starts_with("## ")).collect()
}

/// The rows of a table whose cells are written one per line.
fn rows(lines: &[&'static str], columns: usize) -> Vec<Vec<&'static str>> {
    let cells: Vec<_> = lines
        .iter()
        .take_while(|line| line.trim_end().ends_with('|'))
        .map(|line| line.trim_matches(|c| c == '|' || c == ' '))
        .collect();
    assert_eq!(cells.len() % columns, 0, "{cells:?}");
    cells.chunks(columns).skip(1).map(<[_]>::to_vec).collect()
}

/// One field of a struct of the source.
struct Field {
    name: &'static str,
    kind: &'static str,
    optional: bool,
}

fn structs(lines: &[&'static str]) -> BTreeMap<&'static str, Vec<Field>> {
    let mut found: BTreeMap<&str, Vec<Field>> = BTreeMap::new();
    let mut current = None;
    for line in lines {
        if let Some(rest) = line.strip_prefix("type ") {
            current = rest.split(' ').next();
            found.entry(current.unwrap()).or_default();
        } else if let (Some(owner), Some((before, tag))) = (current, line.split_once("`json:\"")) {
            let tag = tag.split('"').next().unwrap();
            let (name, optional) = match tag.strip_suffix(",omitempty") {
                Some(name) => (name, true),
                None => (tag, false),
            };
            let kind = before.split_whitespace().nth(1).unwrap();
            found.get_mut(owner).unwrap().push(Field { name, kind, optional });
        }
    }
    found
}

/// Fields whose names say what they are: models pay for each description in every request.
const OBVIOUS: [&str; 26] = [
    "query",
    "num_results",
    "site",
    "exact_terms",
    "exclude_terms",
    "lens",
    "url",
    "max_length",
    "year_from",
    "year_to",
    "pdf_only",
    "assignee",
    "inventor",
    "include_sources",
    "deduplicate",
    "filter_by_query",
    "max_length_per_source",
    "total_max_length",
    "stepNumber",
    "nextStepNeeded",
    "totalStepsEstimate",
    "isRevision",
    "revisesStep",
    "branchFromStep",
    "branchId",
    "knowledgeGap",
];

fn names(value: &Value) -> BTreeSet<String> {
    value.as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect()
}

fn required(schema: &Value) -> BTreeSet<String> {
    let listed = schema["required"].as_array().into_iter().flatten();
    listed.map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn added<const COUNT: usize>(
    table: &[(&str, &'static [&'static str]); COUNT],
    owner: &str,
) -> BTreeSet<String> {
    let found = table.iter().filter(|(name, _)| *name == owner).flat_map(|(_, fields)| *fields);
    found.map(|field| (*field).to_owned()).collect()
}

fn check_constraint(tool: &str, name: &str, constraint: &str, property: &Value) {
    let at = format!("{tool}.{name}: {constraint}: {property}");
    if let Some(range) = constraint.strip_suffix(" chars") {
        let (least, most) = range.split_once('-').unwrap();
        assert_eq!(property["minLength"].to_string(), least, "{at}");
        assert_eq!(property["maxLength"].to_string(), most, "{at}");
    } else if let Some((least, most)) = constraint.split_once('-')
        && least.bytes().all(|byte| byte.is_ascii_digit())
        && most.bytes().all(|byte| byte.is_ascii_digit())
    {
        assert_eq!(property["minimum"].to_string(), least, "{at}");
        assert_eq!(property["maximum"].to_string(), most, "{at}");
    } else if constraint == "Starts at 1" {
        assert_eq!(property["minimum"], 1, "{at}");
    } else if constraint.contains(", ") && !constraint.contains('(') {
        let expected: BTreeSet<_> = constraint.split(", ").collect();
        let listed = property["enum"].as_array().unwrap_or_else(|| panic!("{at}")).iter();
        let listed: BTreeSet<_> = listed.filter_map(Value::as_str).collect();
        assert_eq!(listed, expected, "{at}");
    } else if constraint == "Valid HTTP(S) URL" {
        assert!(property["pattern"].is_string(), "{at}");
    }
}

#[test]
fn inputs_have_the_fields_defaults_and_ranges_of_the_source() {
    let listings = tools::all(Duration::from_secs(60));
    assert_eq!(listings.len(), 8);
    for listing in &listings {
        let (tool, schema) = (listing.name, &listing.input_schema);
        let rows = rows(&section(tool), 5);
        assert!(rows.len() >= 3, "{tool}");
        let of_source: BTreeSet<_> = rows.iter().map(|row| row[0].to_owned()).collect();
        let expected: BTreeSet<_> = of_source.union(&added(&ADDED_INPUTS, tool)).cloned().collect();
        assert_eq!(names(&schema["properties"]), expected, "{tool}");
        assert_eq!(schema["additionalProperties"], false, "{tool}");
        let needed: BTreeSet<_> =
            rows.iter().filter(|row| row[2] == "yes").map(|row| row[0].to_owned()).collect();
        assert_eq!(required(schema), needed, "{tool}");
        for row in rows {
            let [name, kind, _, default, constraint] = row[..] else { panic!("{row:?}") };
            let property = &schema["properties"][name];
            let json_type = match kind {
                "string" => "string",
                "int" => "integer",
                "bool" => "boolean",
                other => panic!("{tool}.{name}: {other}"),
            };
            assert_eq!(property["type"], json_type, "{tool}.{name}: {property}");
            let default = match (default, kind) {
                ("—", _) => Value::Null,
                (text, "string") => json!(text),
                (other, _) => serde_json::from_str(other).unwrap(),
            };
            assert_eq!(property["default"], default, "{tool}.{name}");
            check_constraint(tool, name, constraint, property);
            let is_described = property["description"].is_string();
            assert!(is_described || OBVIOUS.contains(&name), "{tool}.{name} is not described");
        }
    }
}

#[test]
fn outputs_have_the_fields_and_types_of_the_source() {
    for listing in tools::all(Duration::from_secs(60)) {
        let structs = structs(&section(listing.name));
        let Some(whole) = structs.keys().find(|name| name.ends_with("Output")) else {
            // The source leaves the output of this tool open.
            assert_eq!(listing.name, "patent_search");
            continue;
        };
        check_struct(whole, &structs, &listing.output_schema);
    }
}

fn check_struct(owner: &str, structs: &BTreeMap<&str, Vec<Field>>, schema: &Value) {
    // Structs that the source only names are checked elsewhere.
    let Some(fields) = structs.get(owner) else { return };
    assert_eq!(schema["type"], "object", "{owner}: {schema}");
    let of_source: BTreeSet<_> = fields.iter().map(|field| field.name.to_owned()).collect();
    let mut listed = names(&schema["properties"]);
    for extra in added(&ADDED_OUTPUTS, owner) {
        assert!(listed.remove(&extra), "{owner} has no `{extra}`");
    }
    // Every output may add warnings.
    assert_eq!(listed.remove("warnings"), owner.ends_with("Output"), "{owner}");
    assert_eq!(listed, of_source, "{owner}");
    let needed = fields.iter().filter(|field| !field.optional).map(|field| field.name.to_owned());
    let needed: BTreeSet<_> = needed.collect();
    assert_eq!(required(schema), needed, "{owner}");
    for field in fields {
        check_type(field.kind, structs, &schema["properties"][field.name], owner);
    }
}

fn check_type(kind: &str, structs: &BTreeMap<&str, Vec<Field>>, schema: &Value, owner: &str) {
    let kind = kind.trim_start_matches('*');
    if let Some(items) = kind.strip_prefix("[]") {
        assert_eq!(schema["type"], "array", "{owner}: {kind}: {schema}");
        return check_type(items, structs, &schema["items"], owner);
    }
    let expected = match kind {
        "string" => "string",
        "int" | "int64" => "integer",
        "bool" => "boolean",
        "float64" => "number",
        _ => return check_struct(kind, structs, schema),
    };
    assert_eq!(schema["type"], expected, "{owner}: {kind}: {schema}");
}

#[test]
fn timeouts_have_the_defaults_and_maxima_of_the_source() {
    let names = ["search", "markdown", "html", "browser", "youtube", "download", "total"];
    let rows = rows(&section("timeouts"), 3);
    assert_eq!(rows.len(), names.len());
    let seconds = |text: &str| Duration::from_secs(text.trim_end_matches('s').parse().unwrap());
    for (name, row) in names.into_iter().zip(rows) {
        let (default, max) = (seconds(row[1]), seconds(row[2]));
        let mut timeouts = Timeouts::default();
        assert_eq!(timeout(&timeouts, name), default, "{}", row[0]);
        assert_eq!(timeouts.set(name, max), Ok(None));
        assert!(timeouts.set(name, max + Duration::from_millis(1)).unwrap().is_some());
        assert_eq!(timeout(&timeouts, name), max, "{}", row[0]);
    }
}

fn timeout(timeouts: &Timeouts, name: &str) -> Duration {
    match name {
        "search" => timeouts.search,
        "markdown" => timeouts.markdown,
        "html" => timeouts.html,
        "browser" => timeouts.browser,
        "youtube" => timeouts.youtube,
        "download" => timeouts.download,
        _ => timeouts.total,
    }
}

#[test]
fn sizes_are_those_of_the_source() {
    let sizes = Sizes::default();
    let ours = [sizes.page, sizes.combined, sizes.download, sizes.transcript];
    let rows = rows(&section("sizes"), 2);
    assert_eq!(rows.len(), ours.len());
    for (bytes, row) in ours.into_iter().zip(rows) {
        let (number, unit) = row[1].split_once(' ').unwrap();
        let factor = if unit == "MB" { 1_000_000 } else { 1_000 };
        assert_eq!(bytes, number.parse::<u64>().unwrap() * factor, "{}", row[0]);
    }
}
