//! What is written is what docs/results.schema.json says, to the last field.

mod common;

use std::fs;

use serde_json::Value;

use common::Place;

const TEXT: &str = "
set $size=randvar(type=gamma, mean=4k)
define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=20, prealloc
define process name=p, instances=2 {
  thread name=closed { flowop readwholefile name=r, filesetname=files, iosize=1k
                       flowop deletefile name=d, filesetname=files }
  thread name=open, rate=50 { flowop statfile name=s, filesetname=files } }
run 0.2
psrun 1 0.2
";

/// Where a value and its schema differ; only what the schema of the project uses is understood.
fn differs(schema: &Value, value: &Value, all: &Value, at: &str) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let known = all.pointer(name.strip_prefix('#').unwrap()).unwrap();
        return differs(known, value, all, at);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let wrong: Vec<String> = choices
            .iter()
            .filter_map(|choice| differs(choice, value, all, at))
            .collect();
        return (wrong.len() == choices.len()).then(|| wrong[0].clone());
    }
    if let Some(words) = schema["enum"].as_array() {
        return (!words.contains(value)).then(|| format!("{at}: {value}"));
    }
    if let Some(constant) = schema.get("const") {
        return (constant != value).then(|| format!("{at}: {value}"));
    }
    let is = match schema["type"].as_str().unwrap() {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other}"),
    };
    if !is {
        return Some(format!("{at} is no {}: {value}", schema["type"]));
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        return values
            .iter()
            .find_map(|value| differs(items, value, all, &format!("{at}[]")));
    }
    let fields = value.as_object()?;
    let required = schema["required"].as_array().into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            return Some(format!("{at} lacks {name}"));
        }
    }
    let closed = schema["additionalProperties"] == false;
    fields.iter().find_map(|(name, value)| {
        let at = format!("{at}.{name}");
        match schema["properties"].get(name) {
            Some(known) => differs(known, value, all, &at),
            None => closed.then(|| format!("{at} is not in the schema")),
        }
    })
}

#[test]
fn a_report_is_as_its_schema_says() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/results.schema.json"
    );
    let schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let place = Place::new("schema");
    for command in ["prepare", "run"] {
        let mut report = place.report(command, TEXT, &[]);
        assert_eq!(differs(&schema, &report, &schema, ""), None, "{command}");
        report["runs"] = serde_json::json!([{"surprise": 1}]);
        assert!(differs(&schema, &report, &schema, "").is_some());
    }
}
