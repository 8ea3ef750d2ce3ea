use environment::Environment;

use super::{Config, loosened};
use crate::{Overrides, load};

fn config(yaml: &str) -> Config {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), yaml).unwrap();
    let flags = Overrides { config: Some(file.path().to_owned()), ..Overrides::default() };
    load(&flags, &Environment::default()).unwrap().config
}

#[test]
fn removed_protections_are_reported_by_key() {
    const STRICT: &str = "servers: { crm: { url: 'http://127.0.0.1:1/mcp' } }\n\
        auth: {}\nsandbox: required\n\
        skills:\n  \
          sales: { servers: [crm], tools: ['web.*'], auto_approve: false }\n  \
          notes: { tools: ['notes.*'], approve: { notes.add: always } }\n  \
          free: { tools: ['demo.*'] }\n\
        limits: { rate: { principal: 1/s, tools: { demo.echo: 1/s } }, max: { timeout: 1m } }\n";
    let strict = config(STRICT);
    let named = |from: &str, to: &str| {
        assert!(STRICT.contains(from), "{from}");
        loosened(&strict, &config(&STRICT.replace(from, to)))
    };
    assert_eq!(named("auth: {}\n", ""), ["auth"]);
    assert_eq!(named("sandbox: required", "sandbox: auto"), ["sandbox"]);
    assert_eq!(named("auto_approve: false", "auto_approve: true"), ["skills.sales.auto_approve"]);
    assert_eq!(named("servers: [crm], ", ""), ["skills.sales.servers"]);
    assert_eq!(named("'web.*'", "'web.read'"), ["skills.sales.tools"]);
    assert_eq!(named("notes.add: always", ""), ["skills.notes.approve.notes.add"]);
    let looser = "auto_approve: false, approve: { 'crm:*': never }";
    assert_eq!(named("auto_approve: false", looser), ["skills.sales.approve.crm:*"]);
    assert_eq!(named("principal: 1/s, ", ""), ["limits.rate.principal"]);
    assert_eq!(named(", tools: { demo.echo: 1/s }", ""), ["limits.rate.tools.demo.echo"]);
    assert_eq!(named(", max: { timeout: 1m }", ""), ["limits.max.timeout"]);
    assert_eq!(
        named("  free: { tools: ['demo.*'] }\n", ""),
        [""; 0],
        "this skill required no approval"
    );
    assert_eq!(named("timeout: 1m", "timeout: 2m"), [""; 0], "it is still limited");
    let all = loosened(&strict, &config("{}"));
    let expected = [
        "auth",
        "sandbox",
        "skills.notes",
        "skills.sales",
        "limits.max.timeout",
        "limits.rate.principal",
        "limits.rate.tools.demo.echo",
    ];
    assert_eq!(all, expected);
    assert_eq!(loosened(&config("{}"), &strict), [""; 0]);
}
