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
    assert_eq!(render("{{ input.q | urlencode }}", json!({"q": "a&b/c"})).unwrap(), "a%26b%2Fc");
    assert_eq!(render("plain } text", json!({})).unwrap(), "plain } text");
}

fn render_url(source: &str, input: serde_json::Value) -> Result<String, Failure> {
    let env = BTreeMap::from([("BASE".to_owned(), "http://h:1/base".to_owned())]);
    let values = Values::new(&input, "demo.x", "1.2.3", &env);
    Template::parse(source.to_owned(), 1).unwrap().render_url(&values, 1_000)
}

#[test]
fn a_value_stays_in_its_part_of_a_url() {
    let hostile = "a/b?c=d&e#f%2F\\g\r\n";
    let encoded = "a%2Fb%3Fc%3Dd%26e%23f%252F%5Cg%0D%0A";
    for (source, expected) in [
        ("{{ env.BASE }}/u/{{ input.q }}/x", format!("http://h:1/base/u/{encoded}/x")),
        ("{{ env.BASE }}/u/{{ input.q | urlencode }}", format!("http://h:1/base/u/{encoded}")),
        ("{{env.BASE}}?q={{ input.q }}&l=1", format!("http://h:1/base?q={encoded}&l=1")),
        ("http://h/{{ input.list | join('/') }}", "http://h/1%2F2".to_owned()),
        ("http://h/{% for x in input.list %}{{ x }}/{% endfor %}", "http://h/1/2/".to_owned()),
        ("http://h/?{{ {'k/': input.q} | urlencode }}", format!("http://h/?k%2F={encoded}")),
        ("http://h/{% set x %}<{{ input.list[0] }}/{% endset %}{{ x }}", "http://h/<1/".to_owned()),
        ("http://h/{{ input.list | tojson }}", "http://h/%5B1%2C2%5D".to_owned()),
        ("http://h/?a={{ input.none }}&b={{ input.q[:1] }}", "http://h/?a=&b=a".to_owned()),
    ] {
        let input = json!({"q": hostile, "list": [1, 2], "none": ""});
        assert_eq!(render_url(source, input).unwrap(), expected, "{source}");
    }
    assert_eq!(
        render_url("{{ input.url }}", json!({"url": "http://h/a?b"})).unwrap(),
        "http://h/a?b"
    );
}

#[test]
fn values_that_would_change_the_path_are_refused() {
    for value in ["..", ".", "%2e%2e", "%252E.", "../../admin/users", "..\\x", "a/../b", ""] {
        let input = json!({"q": value});
        for source in ["{{env.BASE}}/u/{{ input.q }}/x", "{{env.BASE}}/{{ input.q | urlencode }}"] {
            let failure = render_url(source, input.clone()).unwrap_err();
            assert_eq!(failure.code, Code::InvalidInput, "{source} {value}");
        }
        render_url("{{env.BASE}}/u?q={{ input.q }}", input).unwrap();
    }
    for source in [
        "http://h/{{ input.q | safe }}",
        "http://h/{% autoescape false %}{{ input.q }}{% endautoescape %}",
    ] {
        let made = render_url(source, json!({"q": "a/b"}));
        assert!(made.is_err() || made.is_ok_and(|url| url == "http://h/a%2Fb"), "{source}");
    }
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
fn missing_values_are_distinguished() {
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
