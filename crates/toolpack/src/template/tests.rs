#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::{any, proptest};
use serde_json::json;

use super::*;

fn render(source: &str, input: serde_json::Value) -> Result<String, Failure> {
    let env = BTreeMap::from([("TOKEN".to_owned(), "s3cret".to_owned())]);
    let values = Values::new(&input, "demo.x", "1.2.3", &env);
    Template::parse(source.to_owned(), 1).unwrap().render(&values, 1_000)
}

#[test]
fn values_are_filled_in() {
    assert_eq!(render("q={{ input.q }}", json!({"q": "a b"})).unwrap(), "q=a b");
    assert_eq!(
        render("{{id}}|{{version}}|{{ input | tojson }}", json!({"b": 1, "a": "<x>"})).unwrap(),
        r#"demo.x|1.2.3|{"a": "\u003cx\u003e", "b": 1}"#
    );
    assert_eq!(render("Bearer {{env.TOKEN}}", json!({})).unwrap(), "Bearer s3cret");
    assert_eq!(render("{{ input.q | urlencode }}", json!({"q": "a&b/c"})).unwrap(), "a%26b/c");
    assert_eq!(render("plain } text", json!({})).unwrap(), "plain } text");
}

#[test]
fn templates_inside_the_input_stay_text() {
    for payload in [
        "{{env.TOKEN}}",
        "{{ ''.__class__.__mro__ }}",
        "{% for i in range(9) %}x{% endfor %}",
        "${7*7}",
        "{{ input | tojson }}",
    ] {
        assert_eq!(
            render("q={{ input.q }}", json!({"q": payload})).unwrap(),
            format!("q={payload}")
        );
    }
}

#[test]
fn results_and_steps_are_bounded() {
    for source in [
        "{{ 'x' * 100000000 }}",
        "{{ 'x' * 1001 }}",
        "{{ input.n * 'x' }}",
        "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
    ] {
        let failure = render(source, json!({"n": 99_999_999_999_u64})).unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput, "{source}");
    }
    assert_eq!(render("{{ 'x' * 1000 }}", json!({})).unwrap().len(), 1_000);
}

#[test]
fn missing_values_are_told_apart() {
    assert_eq!(render("{{ input.q }}", json!({})).unwrap_err().code, Code::InvalidInput);
    let failure = render("{{ env.OTHER }}", json!({})).unwrap_err();
    assert_eq!(failure.code, Code::Unsupported);
    assert!(failure.message.contains("OTHER"));
}

#[test]
fn faults_have_their_line() {
    let fault = Template::parse("a\n{{ b".to_owned(), 10).unwrap_err();
    assert_eq!(fault.line, Some(11));
    let fault = Template::parse("{{ secrets.x }}".to_owned(), 3).unwrap_err();
    assert_eq!(fault.line, Some(3));
    assert!(fault.message.contains("`secrets`"));
    for source in ["{% include 'x' %}", "{{ debug() }}"] {
        let refused =
            Template::parse(source.to_owned(), 1).is_err() || render(source, json!({})).is_err();
        assert!(refused, "{source}");
    }
}

#[test]
fn its_names_are_known() {
    let template = Template::parse("{{input.a}}{{env.TOKEN}}{{ env['X'] }}".to_owned(), 1).unwrap();
    assert!(template.uses_input() && template.uses_env() && template.is_filled());
    assert!(template.env_names().any(|name| name == "TOKEN"));
    assert!(!Template::parse("{{id}}".to_owned(), 1).unwrap().uses_input());
}

proptest! {
    #[test]
    fn no_template_and_no_input_makes_the_engine_panic(
        source in any::<String>(),
        inner in "[a-z0-9 .|()'\"*+~\\[\\]{}%-]{0,40}",
        text in any::<String>(),
    ) {
        let input = json!({"q": text, "n": 3});
        let _ = render_template(&source, &input);
        let _ = render_template(&format!("{{{{ input.q {inner} }}}}"), &input);
        let _ = render_template(&format!("{{% {inner} %}}"), &input);
        // A plain template gives the caller's text back, letter for letter.
        assert_eq!(render_template("{{ input.q }}", &input).unwrap(), text);
    }
}
