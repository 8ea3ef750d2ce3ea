mod servers;

use std::path::{Path, PathBuf};

use environment::Environment;
use strip::agents::{ApprovalRule, Listing};

use super::{BadConfig, Config, Loaded, Overrides, Sandbox, VaultSecrets, load};
use crate::settings::ToolNames;

struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new(yaml: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("powerstrip.yaml"), yaml).unwrap();
        Self { folder }
    }

    fn flags(&self) -> Overrides {
        Overrides {
            config: Some(self.folder.path().join("powerstrip.yaml")),
            ..Overrides::default()
        }
    }

    fn load(&self) -> Result<Loaded, BadConfig> {
        load(&self.flags(), &Environment::default())
    }

    /// The faults as a user reads them, without the folder.
    fn faults(&self) -> String {
        self.without_folder(&self.load().unwrap_err())
    }

    /// The faults of servers, which do not stop the others.
    fn invalid_servers(&self) -> String {
        let invalid = self.load().unwrap().invalid;
        self.without_folder(&BadConfig(invalid.into_values().flatten().collect()))
    }

    fn without_folder(&self, faults: &BadConfig) -> String {
        let shown = faults.to_string();
        shown.replace(&format!("{}/", self.folder.path().display()), "")
    }
}

fn config(yaml: &str) -> Config {
    Fixture::new(yaml).load().unwrap().config
}

#[test]
fn an_empty_file_is_refused() {
    for yaml in ["", "\n\n", "# nothing\n", "---\n", "\u{feff}", "~\n"] {
        let faults = Fixture::new(yaml).faults();
        assert!(faults.starts_with("powerstrip.yaml: is empty: write `{}`"), "{yaml:?}: {faults}");
    }
}

#[test]
fn a_file_without_settings_is_the_defaults() {
    for yaml in ["{}", "limits:\n"] {
        let fixture = Fixture::new(yaml);
        let config = fixture.load().unwrap().config;
        let mut expected = Config::default();
        expected.anchor(fixture.folder.path());
        assert_eq!(config, expected, "{yaml:?}");
    }
}

#[test]
fn every_key_is_read() {
    let config = config(
        "listen: '[::1]:8080'\n\
         data_dir: data\n\
         tools: [a, ./b]\n\
         prompts: p\n\
         tool_names: canonical\n\
         sandbox: off\n\
         egress: { allow: [127.0.0.1, 10.1.0.0/16, 'db.internal:5432'] }\n\
         telemetry: { logs: json, otlp: 'http://127.0.0.1:4318/' }\n\
         limits:\n  \
           timeout: 1m\n  \
           max_input_bytes: 64KB\n  \
           max_output_bytes: 1024\n  \
           idempotency: 1h\n  \
           rate: { principal: 100/1m, tool: 10/s, tools: { demo.echo: 1/1s } }\n  \
           max: { timeout: 5m }\n",
    );
    assert_eq!(config.listen.to_string(), "[::1]:8080");
    assert_eq!(config.tool_names, ToolNames::Canonical);
    assert_eq!(config.sandbox, Sandbox::Off);
    assert_eq!(config.egress.allow.len(), 3);
    assert_eq!(config.telemetry.otlp.as_ref().unwrap().endpoint, "http://127.0.0.1:4318");
    let settings = config.settings();
    assert_eq!(settings.limits.default.timeout.as_secs(), 60);
    assert_eq!(settings.limits.default.max_input_bytes, 65_536);
    assert_eq!(settings.limits.max.timeout.as_secs(), 300);
    assert_eq!(settings.rate.principal.as_ref().unwrap().count.get(), 100);
    assert!(settings.rate.tools.contains_key("demo.echo"));
}

#[test]
fn relative_paths_start_at_the_folder_of_the_file() {
    let fixture = Fixture::new("tools: [./packs, /abs]\nprompts: ./p\n");
    let loaded = fixture.load().unwrap();
    let base = fixture.folder.path();
    assert_eq!(loaded.config.tools, [base.join("packs"), PathBuf::from("/abs")]);
    assert_eq!(loaded.config.prompts, base.join("p"));
    assert_eq!(loaded.config.data_dir, base.join(".powerstrip"));
}

#[test]
fn flags_beat_environment_beats_file() {
    let fixture =
        Fixture::new("data_dir: file\nprompts: file\ntools: [file]\nlisten: 127.0.0.1:1\n");
    let environment = Environment::default().with([
        ("POWERSTRIP_DATA_DIR", "env"),
        ("POWERSTRIP_PROMPTS", "env"),
        ("POWERSTRIP_TOOLS", "env1:env2"),
    ]);
    let flags = Overrides { data_dir: Some("flag".into()), ..fixture.flags() };
    let config = load(&flags, &environment).unwrap().config;
    assert_eq!(config.data_dir, Path::new("flag"));
    assert_eq!(config.prompts, Path::new("env"));
    assert_eq!(config.tools, [Path::new("env1"), Path::new("env2")]);
    assert_eq!(config.listen.to_string(), "127.0.0.1:1");
}

#[test]
fn all_faults_are_reported_at_once_with_line_and_key() {
    let fixture = Fixture::new(
        "listen: here\n\
         limts: {}\n\
         skills:\n  \
           crm: { servers: [x] }\n\
         limits:\n  \
           timeout: 30\n  \
           max_input_bytes: lots\n  \
           rate:\n    \
             principal: often\n    \
             tools: { 'bad id': 1/s }\n\
         sandbox: requird\n\
         egress:\n  \
           allow:\n    \
             - 127.0.0.1\n    \
             - 'not a host'\n\
         tools: ./tools\n\
         completely_unknown: 1\n",
    );
    insta::assert_snapshot!(fixture.faults());
}

#[test]
fn agents_and_skills_are_read() {
    let config = config(
        "servers: { crm: { url: 'http://127.0.0.1:1/mcp' } }\n\
         skills:\n  \
           sales: { servers: [crm], tools: ['web.*'], auto_approve: false, approval_timeout: 1m, approve: { 'crm:read_*': never } }\n\
         agents: { seller: { skills: [sales], discovery: search }, visitor: }\n\
         embeddings: { path: ./model }\n",
    );
    let profiles = config.profiles();
    let sales = &profiles.skills["sales"];
    assert_eq!((sales.auto_approve, sales.approval_timeout.as_secs()), (false, 60));
    assert_eq!(sales.approval(&"crm:read_lead".parse().unwrap()), ApprovalRule::Free);
    assert!(matches!(
        profiles.approval_rule(&"crm:write".parse().unwrap()),
        ApprovalRule::Asked { .. }
    ));
    assert_eq!(profiles.agents["seller"].listing, Listing::Search);
    assert_eq!(profiles.agents["visitor"].skills, [""; 0]);
    assert!(config.embeddings.path.unwrap().ends_with("model"));
    let defaults = self::config("skills: { all: { tools: ['*'] } }").profiles();
    let defaults = &defaults.skills["all"];
    assert_eq!((defaults.auto_approve, defaults.approval_timeout.as_secs()), (true, 300));
}

#[test]
fn faults_of_agents_and_skills_suggest_the_nearest_name() {
    let fixture = Fixture::new(
        "servers: { crm: { url: 'http://127.0.0.1:1/mcp' } }\n\
         skills:\n  \
           sales: { servers: [crn], tools: [''] }\n  \
           'a b': {}\n\
         agents:\n  \
           seller: { skills: [sale, nonsense], discovery: serach }\n  \
           '../etc': {}\n",
    );
    insta::assert_snapshot!(fixture.faults());
}

#[test]
fn broken_yaml_names_its_line() {
    insta::assert_snapshot!(
        "unclosed",
        Fixture::new("listen: 127.0.0.1:1\ntools: [a, b\nprompts: p\n").faults()
    );
    insta::assert_snapshot!("twice", Fixture::new("prompts: a\ntools: []\nprompts: b\n").faults());
    insta::assert_snapshot!("not_a_map", Fixture::new("- a\n- b\n").faults());
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut yaml = String::from("a: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let refs = vec![format!("*a{}", level - 1); 10].join(", ");
        yaml.push_str(&format!("b{level}: &a{level} [{refs}]\n"));
    }
    assert_eq!(Fixture::new(&yaml).load().unwrap_err().0.len(), 1);
}

#[test]
fn booleans_are_strict() {
    assert_eq!(Fixture::new("tool_names: NO\n").faults(), {
        "powerstrip.yaml:1: tool_names: `NO` is not one of `wire`, `canonical`"
    });
}

#[test]
fn a_public_address_needs_auth() {
    for listen in ["0.0.0.0:7777", "'[::]:7777'", "192.168.1.2:80"] {
        let faults = Fixture::new(&format!("prompts: p\nlisten: {listen}\n")).faults();
        assert!(faults.starts_with("powerstrip.yaml:2: listen: "), "{faults}");
        assert!(faults.contains("`auth`"), "{faults}");
    }
    let open = Fixture::new("listen: 192.168.1.2:80\nauth: {}\n").load().unwrap();
    let access = open.access(&VaultSecrets::default()).unwrap();
    assert!(access.is_some_and(|access| access.api_keys && access.issuer.is_none()));
    let faults = Fixture::new("listen: 0.0.0.0:80\nauth: {}\n").faults();
    assert!(faults.contains("public_url: is required with `auth`"), "{faults}");
    let flags = Overrides { listen: Some("0.0.0.0:1".parse().unwrap()), ..Overrides::default() };
    let faults = load(&flags, &Environment::default()).unwrap_err().to_string();
    assert!(faults.starts_with("--listen: 0.0.0.0:1 can be reached"), "{faults}");
}

#[test]
fn the_auth_section_is_read_with_its_secrets() {
    let fixture = Fixture::new(
        "public_url: https://tools.example/\nauth:\n  issuer: https://id.example\n  audience: https://a.example\n  \
         tenant_claim: org\n  agent_claim: agent\n  jwks_uri: https://id.example/keys\n  \
         scopes: { read: mcp.read }\n  roles_claim: realm.roles\n  roles: { analyst: [tools:call] }\n  \
         introspection: { url: 'https://id.example/i', client_id: gw, client_secret: { env: SECRET } }\n  \
         sign_in: { client_id: board, client_secret: { env: SECRET }, scopes: [openid, 'tools:read'], resource: false }\n",
    );
    let environment = Environment::default().with([("SECRET", "s3cret")]);
    let loaded = load(&fixture.flags(), &environment).unwrap();
    assert!(!format!("{loaded:?}").contains("s3cret"));
    let access = loaded.access(&VaultSecrets::default()).unwrap().unwrap();
    assert!(!format!("{access:?}").contains("s3cret"));
    assert_eq!(access.public_url, "https://tools.example");
    assert_eq!(
        (access.scopes.read.as_str(), access.scopes.call.as_str()),
        ("mcp.read", "tools:call")
    );
    let issuer = access.issuer.unwrap();
    assert_eq!(issuer.audience, ["https://a.example"]);
    assert_eq!(issuer.tenant_claim.as_deref(), Some("org"));
    assert_eq!(issuer.roles["analyst"], ["tools:call"]);
    assert_eq!(issuer.introspection.unwrap().client_id, "gw");
    let sign_in = issuer.sign_in.unwrap();
    assert_eq!((&*sign_in.client_id, sign_in.client_secret.unwrap().expose()), ("board", "s3cret"));
    assert_eq!(sign_in.scopes, ["openid", "tools:read"]);
    assert_eq!(sign_in.resource, ::auth::client::Resource::Omitted);
    let many = Fixture::new("auth: { issuer: 'https://x', audience: [a, b] }\n").load().unwrap();
    let many = many.access(&VaultSecrets::default()).unwrap().unwrap();
    assert_eq!(many.issuer.unwrap().audience, ["a", "b"]);
}

#[test]
fn faults_of_the_auth_section_name_their_key() {
    for (yaml, faults) in [
        ("auth: { isuer: x }", "auth.isuer: unknown key; did you mean `issuer`?"),
        ("auth: { issuer: 'ftp://x' }", "auth.issuer: must begin with https://"),
        ("auth: { issuer: 'https://u:p@x' }", "auth.issuer: must not hold a user name"),
        ("auth: { issuer: 'https://x?a' }", "auth.issuer: must not hold a query"),
        ("auth: { issuer: x }", "auth.issuer: is not a URL"),
        ("auth: { audience: x }", "auth.audience: has no effect without `auth.issuer`"),
        ("auth: { tenant_claim: x }", "auth.tenant_claim: has no effect"),
        ("auth: { api_keys: false }", "auth.api_keys: no caller could sign in"),
        ("auth: { issuer: 'https://x', roles: { a: [b] } }", "auth.roles: has no effect"),
        (
            "auth: { issuer: 'https://x', scopes: { read: 'a b' } }",
            "auth.scopes.read: `a b` is not a scope",
        ),
        ("auth: { api_keys: 'yes' }", "auth.api_keys: "),
        (
            "auth: { issuer: 'https://x', introspection: { url: 'https://x/i', client_id: a, client_secret: b } }",
            "auth.introspection.client_secret: a secret is written `{env: NAME}`",
        ),
        (
            "auth: { sign_in: { client_id: a } }",
            "auth.sign_in: has no effect without `auth.issuer`",
        ),
        (
            "auth: { issuer: 'https://x', sign_in: { client: a } }",
            "auth.sign_in.client: unknown key; did you mean `client_id`?",
        ),
        ("auth: { issuer: 'https://x', sign_in: {} }", "auth.sign_in: "),
        ("auth: { issuer: 'https://x', sign_in: { client_id: '' } }", "auth.sign_in.client_id: "),
        (
            "auth: { issuer: 'https://x', sign_in: { client_id: a, client_secret: b } }",
            "auth.sign_in.client_secret: ",
        ),
        (
            "auth: { issuer: 'https://x', sign_in: { client_id: a, scopes: ['a b'] } }",
            "auth.sign_in.scopes: `a b` is not one scope",
        ),
        (
            "auth: { issuer: 'https://x', sign_in: { client_id: a, resource: nowhere } }",
            "auth.sign_in.resource: is not a URL",
        ),
        ("public_url: https://x/y\nauth: {}", "public_url: must end after the host"),
        ("public_url: x", "public_url: is not a URL"),
    ] {
        let reported = Fixture::new(&format!("{yaml}\n")).faults();
        assert!(reported.contains(faults), "{yaml}: {reported}");
    }
}

#[test]
fn limits_above_their_maximum_are_faults() {
    let faults = Fixture::new("limits:\n  timeout: 10m\n  max: { timeout: 1m }\n").faults();
    assert!(
        faults.starts_with("powerstrip.yaml:2: limits.timeout: is above `limits.max.timeout`"),
        "{faults}"
    );
    let raised = config("limits: { timeout: 1h }").settings();
    assert_eq!(
        raised.limits.max.timeout.as_secs(),
        3600,
        "an unset maximum is raised to the limit"
    );
}

#[test]
fn secrets_come_from_the_environment_or_a_file() {
    let fixture = Fixture::new(
        "telemetry:\n  otlp:\n    endpoint: https://otlp.example.com\n    headers:\n      \
         authorization: { env: TOKEN }\n      x-key: { file: key.txt }\n      x-plain: visible\n",
    );
    let secretless = BadConfig(fixture.load().unwrap().otlp_headers().unwrap_err()).to_string();
    assert!(
        secretless.contains("powerstrip.yaml:5: telemetry.otlp.headers.authorization: "),
        "{secretless}"
    );
    assert!(secretless.contains("`TOKEN` is not set"), "{secretless}");
    assert!(secretless.contains("key.txt"), "{secretless}");

    std::fs::write(fixture.folder.path().join("key.txt"), "k3y\n").unwrap();
    let loaded =
        load(&fixture.flags(), &Environment::default().with([("TOKEN", "t0ken")])).unwrap();
    let headers = loaded.otlp_headers().unwrap();
    let headers: Vec<_> =
        headers.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
    assert_eq!(headers, [("authorization", "t0ken"), ("x-key", "k3y"), ("x-plain", "visible")]);
    let shown = format!("{loaded:?}");
    assert!(
        !shown.contains("t0ken") && !shown.contains("k3y") && !shown.contains("visible"),
        "{shown}"
    );
}

#[test]
fn a_secret_has_one_source() {
    for reference in [
        "{}",
        "{ env: A, file: b }",
        "{ vault: x }",
        "{ env: '' }",
        "5",
        "{ secret: 'a b' }",
        "{ secret: a, env: B }",
        "{ env: A, per: person }",
        "{ secret: a, per: team }",
        // Telemetry starts before the vault is open.
        "{ secret: a }",
    ] {
        let yaml = format!(
            "telemetry: {{ otlp: {{ endpoint: 'http://x', headers: {{ a: {reference} }} }} }}"
        );
        let faults = Fixture::new(&yaml).faults();
        assert!(faults.contains("telemetry.otlp.headers.a"), "{reference}: {faults}");
    }
}

#[test]
fn a_named_file_must_exist() {
    let flags =
        Overrides { config: Some("nowhere/powerstrip.yaml".into()), ..Overrides::default() };
    let faults = load(&flags, &Environment::default()).unwrap_err().to_string();
    assert!(faults.starts_with("nowhere/powerstrip.yaml: cannot be read"), "{faults}");
}

#[test]
fn the_schema_accepts_what_the_reader_accepts() {
    let schema = schema::Schema::compile(&super::schema()).unwrap();
    let shown = serde_json::to_value(Config::default()).unwrap();
    assert_eq!(schema.violations(&shown), []);
    let wrong = serde_json::json!({"limits": {"timeout": "soon"}, "lisen": "x"});
    assert_eq!(schema.violations(&wrong).len(), 2);
}
