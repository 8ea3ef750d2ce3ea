use environment::Environment;

use super::Fixture;
use crate::{Overrides, VaultSecrets, load};

#[test]
fn servers_are_read_with_their_secrets() {
    let fixture = Fixture::new(
        "servers:\n  \
           files:\n    command: ./bin/files\n    args: [--root, /srv]\n    cwd: data\n    start: lazy\n    \
             env: { TOKEN: { env: FILES_TOKEN }, MODE: plain }\n    timeout: 90s\n    rename: { a: b }\n    \
             sandbox: { mode: auto, network: false, read: [data] }\n  \
           crm:\n    url: http://127.0.0.1:7101/mcp\n    urls: ['http://127.0.0.1:7102/mcp']\n    \
             headers: { X-Api-Key: { file: key.txt } }\n    only: ['read_*']\n    shared: true\n    \
             transport: sse\n    era: legacy\n  \
           later: { command: npx, disabled: true }\n",
    );
    std::fs::write(fixture.folder.path().join("key.txt"), "k3y\n").unwrap();
    let environment = Environment::default().with([("FILES_TOKEN", "t0ken")]);
    let loaded = load(&fixture.flags(), &environment).unwrap();
    let resolved = loaded.resolve(&VaultSecrets::default());
    assert_eq!(resolved.off, []);
    let server = |name: &str| &resolved.servers.iter().find(|(known, _)| known == name).unwrap().1;
    let (base, files) = (fixture.folder.path(), server("files"));
    assert_eq!(files.command.as_deref(), base.join("bin/files").to_str());
    assert_eq!(files.cwd, Some(base.join("data")));
    assert_eq!(server("later").cwd, None);
    assert_eq!(server("later").folder.as_deref(), Some(base), "the folder of the config file");
    assert_eq!(server("crm").transport, server_entry::UrlTransport::Sse);
    assert_eq!(server("crm").era, server_entry::EraChoice::Legacy);
    assert_eq!(files.env["TOKEN"], "t0ken");
    assert_eq!(files.env["MODE"], "plain");
    assert_eq!(files.start, server_entry::Start::Lazy);
    assert_eq!(files.timeout.unwrap().as_secs(), 90);
    assert_eq!(files.rename["a"], "b");
    assert_eq!(files.sandbox.mode, server_entry::SandboxMode::Auto);
    assert_eq!(files.sandbox.read, [base.join("data")]);
    assert!(!files.sandbox.network);
    assert_eq!(server("crm").all_urls().count(), 2);
    assert_eq!(server("crm").headers["X-Api-Key"], "k3y");
    assert_eq!(server("crm").instances(), server_entry::Instances::Shared);
    assert_eq!(
        server("later").command.as_deref(),
        Some("npx"),
        "looked up in PATH, not in the config's folder"
    );
    assert!(server("later").disabled);
    let shown = format!("{loaded:?} {resolved:?}");
    assert!(!shown.contains("t0ken") && !shown.contains("k3y"), "{shown}");
}

#[test]
fn a_bad_server_names_its_key() {
    let fixture = Fixture::new(
        "servers:\n  \
           a: { comand: x }\n  \
           b: { url: 'http://127.0.0.1:1/mcp', auth: { grant: client_credentials } }\n  \
           c: { kind: openapi }\n  \
           d: { command: x, url: 'http://127.0.0.1:1/mcp' }\n  \
           e: {}\n  \
           f: { url: 'ftp://x' }\n  \
           g: { command: x, env: { TOKEN: { env: UNSET } } }\n  \
           h: { command: x, references: maybe }\n  \
           i: { url: 'http://127.0.0.1:1/mcp', headers: { Host: x } }\n  \
           j: { command: x, timeout: 5 }\n  \
           powerstrip: { command: x }\n  \
           'k l': { command: x }\n  \
           m: npx\n  \
           n: { command: x, start: lasy }\n  \
           o: { command: x, shared: true, instances: caller }\n  \
           p: { command: x, instances: person }\n  \
           q: { command: x, references: { meida: 1MB } }\n  \
           r: { command: x, references: { media: much } }\n",
    );
    insta::assert_snapshot!(fixture.invalid_servers());
}

#[test]
fn usual_mistakes_are_answered_with_what_to_write() {
    let fixture = Fixture::new(
        "servers:\n  a: { command: [npx, -y, canary] }\n  b: { url: mcp.example.com }\n  \
           c: { url: 'localhost:3000/mcp' }\n  d: { url: 'mcp.example.com/mcp?key=canary' }\n",
    );
    let faults = fixture.invalid_servers();
    for expected in [
        "servers.a.command: expected text, found a list; write the program as `command`",
        "`command: npx` and `args: [-y, foo]`",
        "servers.b.url: a URL begins with its scheme: write `https://mcp.example.com`",
        "servers.c.url: a URL begins with its scheme: write `http://localhost:3000/mcp`",
        "servers.d.url: a URL begins with its scheme: write `https://mcp.example.com/mcp`",
    ] {
        assert!(faults.contains(expected), "{expected}\n{faults}");
    }
    assert!(!faults.contains("canary"), "{faults}");
}

#[test]
fn a_bad_server_stops_neither_the_others_nor_the_skills_that_name_it() {
    let fixture = Fixture::new(
        "servers:\n  \
           good: { command: x }\n  \
           bad: { command: x, url: 'http://127.0.0.1:1/mcp', env: { TOKEN: { env: UNSET } } }\n  \
           text: sk-canary\n  \
           list: { command: x, env: API_KEY=sk-canary }\n\
         skills: { s: { servers: [good, text] } }\n",
    );
    let loaded = fixture.load().unwrap();
    assert_eq!(loaded.invalid.keys().collect::<Vec<_>>(), ["bad", "list", "text"]);
    assert!(loaded.missing_outside_vault().is_empty(), "only its faults are reported");
    let resolved = loaded.resolve(&VaultSecrets::default());
    let usable = |name: &str| {
        let (_, server) = resolved.servers.iter().find(|(known, _)| known == name).unwrap();
        server.invalid.is_empty()
    };
    assert!(usable("good") && !usable("bad") && !usable("text") && !usable("list"));
    let shown = format!("{:?} {:?}", resolved.off, resolved.servers);
    assert!(!shown.contains("canary"), "{shown}");
}

#[test]
fn a_fault_outside_servers_refuses_the_file_also_among_bad_servers() {
    let faults = Fixture::new("servers: { a: { comand: x } }\nauth: { isuer: x }\n").faults();
    assert!(faults.contains("auth.isuer") && faults.contains("servers.a.comand"), "{faults}");
    let many: String = (0..60).map(|at| format!("  s{at}: {{ comand: x }}\n")).collect();
    let refused = Fixture::new(&format!("auth: {{}}\nservers:\n{many}")).load();
    assert!(refused.is_err(), "settings that were not read to their end are never used");
}

#[test]
fn servers_of_mcp_json_are_added_to_those_of_the_file() {
    let fixture = Fixture::new("servers: { a: { command: x } }\n");
    let json = fixture.folder.path().join("mcp.json");
    let flags = Overrides { mcp_json: Some(json.clone()), ..fixture.flags() };
    let load = || load(&flags, &Environment::default());
    assert!(load().unwrap_err().to_string().contains("mcp.json: cannot be read"));

    std::fs::write(&json, r#"{"mcpServers": {"b": {"command": "./y"}}}"#).unwrap();
    let loaded = load().unwrap();
    let servers = loaded.resolve(&VaultSecrets::default()).servers;
    let names: Vec<_> = servers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let expected = fixture.folder.path().join("y");
    assert_eq!(servers[1].1.command.as_deref(), expected.to_str());

    let entries = r#"{"mcpServers": {"a": {"command": "y"}, "c": {"command": "z"}, "d": {}}}"#;
    std::fs::write(&json, entries).unwrap();
    let loaded = load().unwrap();
    assert_eq!(loaded.config.servers["a"].command.as_deref(), Some("x"));
    assert_eq!(loaded.config.servers.keys().collect::<Vec<_>>(), ["a", "c"]);
    let warnings: Vec<_> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert!(warnings[0].contains("mcp.json: the server `d` is not used"), "{warnings:?}");
    assert!(warnings[1].contains("there is a server `a` already"), "{warnings:?}");
}

#[test]
fn maps_and_lists_without_a_value_are_empty() {
    let yaml = "servers:\n#  crm: {command: crm}\ntools:\nagents:\nskills:\nresearch:\n  search: {routing: , providers: }\n\
                egress: {allow: }\n";
    let loaded = Fixture::new(yaml).load().unwrap();
    assert!(loaded.config.servers.is_empty());
    assert!(loaded.config.tools.is_empty());
    assert!(loaded.config.research.search.routing.is_empty());
    let entry = "servers:\n  crm:\n    command: crm\n    args:\n    env:\n    only:\n    rename:\n";
    let loaded = Fixture::new(entry).load().unwrap();
    assert!(loaded.invalid.is_empty(), "{:?}", loaded.invalid);
    assert!(loaded.config.servers["crm"].args.is_empty());
}

#[test]
fn secrets_in_the_file_are_warned_about_and_not_repeated() {
    let yaml = "servers:\n  crm:\n    url: https://crm.example/mcp\n    headers:\n      Authorization: Bearer sk-live-4711-canary\n      \
                X-Region: north\n  files:\n    command: files\n    args: [--api-key, s3cret-canary-1, --verbose]\n    env:\n      \
                API_TOKEN: canary-4711\n      KEYCLOAK_REALM: production\n      LIMIT_TOKEN: {secret: files}\n";
    let warnings = Fixture::new(yaml).load().unwrap().warnings;
    let keys: Vec<_> = warnings.iter().map(|warning| warning.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "servers.crm.headers.Authorization",
            "servers.files.env.API_TOKEN",
            "servers.files.args.1"
        ]
    );
    let header = &warnings[0].message;
    assert!(header.contains("`powerstrip secret set CRM_AUTHORIZATION`"), "{header}");
    assert!(header.contains("`{secret: CRM_AUTHORIZATION, prefix: \"Bearer \"}`"), "{header}");
    assert!(warnings.iter().all(|warning| !warning.to_string().contains("canary")));
}
