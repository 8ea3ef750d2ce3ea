use std::fs;
use std::time::Instant;

use proto::{Code, PromptRef, Severity};
use serde_json::json;

use super::{Dir, SPEC, get, texts};
use crate::{Prompts, Snapshot, pin};

fn reference(text: &str) -> PromptRef {
    text.parse().unwrap()
}

#[test]
fn a_missing_folder_has_no_prompts() {
    let dir = Dir::new();
    let (snapshot, findings) = Snapshot::load(&dir.path().join("nothing"));
    assert!(snapshot.prompts().is_empty() && findings.is_empty());
    let (snapshot, findings) = Snapshot::load(dir.path());
    assert!(snapshot.prompts().is_empty() && findings.is_empty());
}

#[test]
fn prompts_are_found_by_name_and_major() {
    let dir = Dir::with_hello();
    dir.write("packs/demo/hello.v2.md", "Good day {{ name }}!");
    dir.write("packs/demo/hello.v10.md", "Welcome {{ name }}!");
    dir.write("packs/demo/README.md", "Notes.");
    pin(dir.path()).unwrap();
    assert_eq!(dir.errors(), Vec::<String>::new());
    assert_eq!(dir.warnings(), Vec::<String>::new());
    let snapshot = dir.snapshot();
    let majors: Vec<_> = snapshot.prompts().iter().map(|prompt| prompt.major).collect();
    assert_eq!(majors, [10, 2, 1]);
    let names: Vec<_> = snapshot.prompts().iter().map(|prompt| prompt.wire_name()).collect();
    assert_eq!(names, ["demo/hello", "demo/hello@2", "demo/hello@1"]);
    assert_eq!(get(&snapshot, "demo/hello").major, 10);
    assert_eq!(get(&snapshot, "mcp.prompt:demo/hello@2").body, "Good day {{ name }}!");
    assert_eq!(get(&snapshot, "demo/hello@1").superseded_by, Some(10));

    let listed = serde_json::to_value(snapshot.listed()).unwrap();
    assert_eq!(listed[0]["id"], "mcp.prompt:demo/hello");
    assert_eq!(
        listed[0]["versions"][1],
        json!({"major": 2, "description": "Greets a person by name, once or several times.",
               "specRef": "/mcp/prompt/demo/hello/2"})
    );
    assert_eq!(snapshot.prompts()[0].spec["inputSchema"]["required"], json!(["name"]));
}

#[test]
fn unknown_prompts_are_answered_with_the_nearest() {
    let snapshot = Dir::with_hello().snapshot();
    let failure = snapshot.get(&reference("demo/helo")).unwrap_err();
    assert_eq!(failure.code(), Code::NotFound);
    assert!(failure.to_string().contains("did you mean `demo/hello`"), "{failure}");
    assert_eq!(failure.details().unwrap()["nearest"], json!(["demo/hello"]));
    let failure = snapshot.get(&reference("demo/hello@7")).unwrap_err();
    assert_eq!(failure.code(), Code::NotFound);
    assert_eq!(failure.details().unwrap()["majors"], json!([1]));
    let failure = snapshot.get(&reference("zzz/qqq")).unwrap_err();
    assert!(!failure.to_string().contains("did you mean"));
}

#[test]
fn a_changed_body_is_refused_and_the_last_good_one_stays() {
    let dir = Dir::with_hello();
    let before = dir.snapshot();
    dir.write("packs/demo/hello.v1.md", "Goodbye {{ name }}!");
    let errors = dir.errors();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].starts_with("packs/demo/hello.v1.md: the text differs"), "{errors:?}");
    assert!(errors[0].contains("`hello.v2.md`"));
    assert!(dir.snapshot().prompts().is_empty(), "a fresh start has nothing to fall back on");
    let (kept, findings) = Snapshot::load_keeping(dir.path(), &before);
    assert_eq!(get(&kept, "demo/hello").body, "Hello {{ name }}!");
    assert_eq!(texts(&dir, &findings, Severity::Error), errors);

    // As a new version it is welcome.
    fs::rename(
        dir.path().join("packs/demo/hello.v1.md"),
        dir.path().join("packs/demo/hello.v2.md"),
    )
    .unwrap();
    dir.write("packs/demo/hello.v1.md", "Hello {{ name }}!");
    assert_eq!(pin(dir.path()).unwrap(), [reference("demo/hello@2")]);
    assert_eq!(dir.errors(), Vec::<String>::new());
}

#[test]
fn pins_are_never_overwritten() {
    let dir = Dir::with_hello();
    let registry = fs::read_to_string(dir.path().join("REGISTRY.yaml")).unwrap();
    let body = fs::read(dir.path().join("packs/demo/hello.v1.md")).unwrap();
    assert!(registry.contains(&proto::digest(&body).to_string()), "{registry}");
    dir.write("packs/demo/hello.v1.md", "changed");
    dir.write("packs/demo/hello.v2.md", "new");
    let findings = pin(dir.path()).unwrap_err();
    assert!(findings[0].message.contains("pins as v1"), "{findings:?}");
    assert!(findings[0].message.contains("`hello.v3.md`"), "v2 is taken: {findings:?}");
    assert!(dir.errors()[0].contains("`hello.v3.md`"));
    assert_eq!(fs::read_to_string(dir.path().join("REGISTRY.yaml")).unwrap(), registry);
    assert_eq!(pin(Dir::new().path()).unwrap(), []);
    assert!(pin(&dir.path().join("nothing")).is_err());
    let files: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(files.len(), 2, "no draft is left behind: {files:?}");
}

#[test]
fn an_unpinned_prompt_is_served_with_a_warning() {
    let dir = Dir::with_hello();
    fs::remove_file(dir.path().join("REGISTRY.yaml")).unwrap();
    assert_eq!(dir.snapshot().prompts().len(), 1);
    assert_eq!(dir.errors(), Vec::<String>::new());
    assert!(dir.warnings()[0].contains("is not pinned"), "{:?}", dir.warnings());
}

#[test]
fn a_broken_registry_vouches_for_nothing() {
    let dir = Dir::with_hello();
    let before = dir.snapshot();
    for (text, place, word) in [
        ("demo/hello:\n  v1: abc\n", "REGISTRY.yaml:2", "64 hexadecimal"),
        ("demo/hello:\n  1: abc\n", "REGISTRY.yaml:2", "`v1`, `v2`"),
        ("demo/hello:\n  v01: abc\n", "REGISTRY.yaml:2", "`v1`, `v2`"),
        ("demo/hello: 3\n", "REGISTRY.yaml:1", "mapping"),
        ("hello: {}\n", "REGISTRY.yaml:1", "`domain/name`"),
        ("../x/y: {}\n", "REGISTRY.yaml:1", "../x/y"),
        ("[1]\n", "REGISTRY.yaml:1", "mapping"),
        ("a: b: c\n", "REGISTRY.yaml:1", ""),
        ("demo/hello: {}\ndemo/hello: {}\n", "REGISTRY.yaml:2", "duplicate"),
    ] {
        dir.write("REGISTRY.yaml", text);
        let errors = dir.errors();
        assert!(errors[0].starts_with(place) && errors[0].contains(word), "{text}: {errors:?}");
        assert!(dir.snapshot().prompts().is_empty());
        assert_eq!(Snapshot::load_keeping(dir.path(), &before).0, before);
        assert!(pin(dir.path()).is_err());
    }
    dir.write("REGISTRY.yaml", "# nothing pinned\n");
    assert_eq!(dir.errors(), Vec::<String>::new());
}

#[test]
fn a_pinned_version_must_not_vanish() {
    let dir = Dir::with_hello();
    dir.write("packs/demo/hello.v2.md", "Hi {{ name }}");
    pin(dir.path()).unwrap();
    fs::remove_file(dir.path().join("packs/demo/hello.v1.md")).unwrap();
    let errors = dir.errors();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].starts_with("REGISTRY.yaml:4: `demo/hello` v1 is pinned, but"), "{errors:?}");
    assert_eq!(dir.snapshot().prompts().len(), 1);
}

#[test]
fn every_fault_of_a_spec_has_its_line() {
    let schema =
        "inputSchema:\n  type: object\n  properties:\n    name: { type: string, description: x }\n";
    for (spec, place, word) in [
        ("inputSchema: {}\n", "", "`description` is missing"),
        ("description: ''\n", ":1", "not empty"),
        ("description: [x]\n", ":1", "not empty"),
        ("description: x\ninputShema: {}\n", ":2", "did you mean `inputSchema`?"),
        ("description: x\nzzzz: 1\n", ":2", "known are"),
        ("description: x\nconstraints:\n  maxRenderdChars: 5\n", ":3", "`maxRenderedChars`?"),
        ("description: x\nconstraints:\n  maxRenderedChars: -5\n", ":3", "from 1 to"),
        ("description: x\nconstraints: 3\n", ":2", "mapping"),
        ("description: x\ninputSchema: yes\n", ":2", "JSON Schema of an object"),
        ("description: x\ninputSchema:\n  type: array\n", ":3", "`type: object`"),
        ("description: x\ninputSchema:\n  properties:\n    a:\n      type: strin\n", ":5", "strin"),
        (
            "description: x\ninputSchema:\n  properties:\n    a:\n      pattern: '('\n",
            ":5",
            "regex",
        ),
        (
            "description: x\ninputSchema:\n  properties:\n    a:\n      $ref: file:///etc/passwd\n",
            ":5",
            "leads out",
        ),
        (
            "description: x\ninputSchema:\n  required:\n    - a\n",
            ":4",
            "`properties` does not name it",
        ),
        ("description: x\ndescription: y\n", ":2", "duplicate"),
        ("description: x\n  bad: indent\n", ":2", ""),
        ("- x\n", ":1", "mapping"),
        ("description: &a [*a]\n", ":1", ""),
        ("description: x\n---\ndescription: y\n", "", ""),
        ("base: &b {x: 1}\ndescription: x\n<<: *b\n", "", "erge"),
    ] {
        let dir = Dir::new();
        dir.write("packs/demo/hello.v1.md", "Hello");
        dir.write("packs/demo/hello.spec.yaml", spec);
        let errors = dir.errors();
        let start = format!("packs/demo/hello.spec.yaml{place}");
        assert!(!errors.is_empty(), "{spec}");
        assert!(errors[0].starts_with(&start), "{spec}: {errors:?}");
        assert!(errors[0].to_lowercase().contains(&word.to_lowercase()), "{spec}: {errors:?}");
        assert!(dir.snapshot().prompts().is_empty());
    }
    let dir = Dir::new();
    dir.write("packs/demo/hello.v1.md", "{{ name }}");
    dir.write("packs/demo/hello.spec.yaml", format!("titel: x\nconstraint: {{}}\n{schema}"));
    assert_eq!(dir.errors().len(), 3, "all faults at once: {:?}", dir.errors());
}

#[test]
fn every_fault_of_a_body_has_its_line() {
    for (body, place, word) in [
        ("a\n{{ name \n", ":2", "syntax error"),
        ("a\nb\n{% if name %}", ":3", "syntax error"),
        ("a\n\n{{ nmae }}", ":3", "did you mean `name`?"),
        ("a\n{{ name|shout }}", ":2", "shout"),
        ("a\n{{ frobnicate(name) }}", ":2", "frobnicate"),
        ("{% include 'secret.md' %}", ":1", "secret.md"),
        ("{% extends '/etc/passwd' %}", ":1", "passwd"),
        (
            "x\n{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
            ":2",
            "4 MiB",
        ),
        ("{{ 'x' * 100000000 }}", ":1", "4 MiB"),
        ("{{ 'x' * 300000 }}", "", "longer than 262144"),
    ] {
        let dir = Dir::new();
        dir.write("packs/demo/hello.spec.yaml", SPEC);
        dir.write("packs/demo/hello.v1.md", body);
        let errors = dir.errors();
        assert_eq!(errors.len(), 1, "{body}: {errors:?}");
        assert!(errors[0].starts_with(&format!("packs/demo/hello.v1.md{place}: ")), "{errors:?}");
        assert!(errors[0].contains(word), "{body}: {errors:?}");
    }
    let dir = Dir::new();
    dir.write("packs/demo/hello.spec.yaml", SPEC);
    dir.write("packs/demo/hello.v1.md", "{{ name }}\n{{ times }}");
    assert_eq!(dir.errors(), Vec::<String>::new());
    assert!(
        dir.warnings().iter().any(|w| w.contains(".md:2: prints an optional")),
        "{:?}",
        dir.warnings()
    );
    dir.write("packs/demo/hello.v2.md", b"a\nb\xff");
    dir.write("packs/demo/hello.v3.md", "x".repeat(300 * 1024));
    let errors = dir.errors();
    assert!(errors[0].starts_with("packs/demo/hello.v2.md:2: is not UTF-8"), "{errors:?}");
    assert!(errors[1].contains("larger than 262144"), "{errors:?}");
}

#[test]
fn a_broken_spec_keeps_all_its_majors_and_a_removed_body_goes() {
    let dir = Dir::with_hello();
    dir.write("packs/demo/hello.v2.md", "Hi {{ name }}");
    pin(dir.path()).unwrap();
    let before = dir.snapshot();
    dir.write("packs/demo/hello.spec.yaml", "description: [");
    let (kept, findings) = Snapshot::load_keeping(dir.path(), &before);
    assert_eq!(kept, before);
    assert_eq!(findings.len(), 1, "{findings:?}");
    fs::remove_file(dir.path().join("packs/demo/hello.v2.md")).unwrap();
    let (kept, _) = Snapshot::load_keeping(dir.path(), &before);
    let names: Vec<_> = kept.prompts().iter().map(|prompt| prompt.wire_name()).collect();
    assert_eq!(names, ["demo/hello"], "v1 is the newest now");
    fs::remove_dir_all(dir.path().join("packs")).unwrap();
    assert!(Snapshot::load_keeping(dir.path(), &before).0.prompts().is_empty());
}

#[test]
fn one_major_may_have_a_spec_of_its_own() {
    let dir = Dir::with_hello();
    dir.write("packs/demo/hello.v2.md", "Hello {{ person }}");
    assert_eq!(dir.errors().len(), 1);
    let own = SPEC.replace("name", "person").replace("Greets", "Meets");
    dir.write("packs/demo/hello.v2.spec.yaml", own);
    assert_eq!(dir.errors(), Vec::<String>::new());
    let snapshot = dir.snapshot();
    assert!(get(&snapshot, "demo/hello@2").description.starts_with("Meets"));
    assert!(get(&snapshot, "demo/hello@1").description.starts_with("Greets"));
}

#[test]
fn files_that_are_no_prompts_are_named() {
    let dir = Dir::with_hello();
    for file in [
        "packs/stray.md",
        "packs/demo/notes.txt",
        "packs/demo/hello.md",
        "packs/demo/hello.v01.md",
        "packs/demo/hello.v-1.md",
        "packs/demo/a b.v1.md",
        "packs/demo/x.v1.v2.md",
        "packs/bad domain/x.v1.md",
        "packs/demo/lonely.spec.yaml",
        "packs/demo/at@2.v1.md",
    ] {
        dir.write(file, "description: x");
        let warnings = dir.warnings();
        assert!(warnings.iter().any(|warning| warning.starts_with(file)), "{file}: {warnings:?}");
        fs::remove_file(dir.path().join(file)).unwrap();
    }
    dir.write("packs/demo/bare.v1.md", "no spec");
    assert!(dir.errors()[0].contains("bare.v1.md: has no spec"), "{:?}", dir.errors());
    assert_eq!(dir.snapshot().prompts().len(), 1);
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_folder() {
    use std::os::unix::fs::symlink;
    let dir = Dir::with_hello();
    let outside = Dir::new();
    let secret = outside.write("packs/x/secret.v1.md", "secret");
    outside.write("packs/x/secret.spec.yaml", SPEC);
    symlink(&secret, dir.path().join("packs/demo/leak.v1.md")).unwrap();
    dir.write("packs/demo/leak.spec.yaml", SPEC);
    symlink(outside.path().join("packs/x"), dir.path().join("packs/leak")).unwrap();
    symlink(dir.path().join("packs/demo/hello.v1.md"), dir.path().join("packs/demo/inside.v1.md"))
        .unwrap();
    symlink("hello.spec.yaml", dir.path().join("packs/demo/inside.spec.yaml")).unwrap();
    let errors = dir.errors();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors.iter().all(|error| error.contains("leads out of the prompts folder")));
    let ids: Vec<_> = dir.snapshot().prompts().iter().map(|prompt| prompt.id()).collect();
    assert_eq!(ids, ["demo/hello", "demo/inside"]);
    assert!(pin(dir.path()).is_err());
}

#[cfg(unix)]
#[test]
fn a_pipe_does_not_block() {
    let dir = Dir::with_hello();
    let socket =
        std::os::unix::net::UnixListener::bind(dir.path().join("packs/demo/s.v1.md")).unwrap();
    dir.write("packs/demo/s.spec.yaml", SPEC);
    assert!(dir.errors()[0].contains("s.v1.md: is not a file"), "{:?}", dir.errors());
    drop(socket);
}

#[test]
fn yaml_bombs_are_refused_at_once() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for n in 1..20 {
        let aliases = vec![format!("*a{}", n - 1); 9].join(", ");
        bomb.push_str(&format!("a{n}: &a{n} [{aliases}]\n"));
    }
    for text in [bomb, "[".repeat(20_000), "x: ".repeat(5_000), "a".repeat(300_000)] {
        let dir = Dir::new();
        dir.write("packs/demo/hello.v1.md", "Hello");
        dir.write("packs/demo/hello.spec.yaml", &text);
        let started = Instant::now();
        assert!(!dir.errors().is_empty());
        assert!(started.elapsed().as_secs() < 2, "{:?}", started.elapsed());
    }
}

#[test]
fn words_stay_words() {
    let dir = Dir::new();
    dir.write("packs/demo/hello.v1.md", "{{ country }}");
    dir.write(
        "packs/demo/hello.spec.yaml",
        "description: Norway\ninputSchema:\n  properties:\n    country: { enum: [NO, yes, off, 'true'], description: x }\n  required: [country]\n",
    );
    let snapshot = dir.snapshot();
    let prompt = get(&snapshot, "demo/hello");
    assert_eq!(prompt.complete("country", ""), ["NO", "yes", "off", "true"]);
    assert_eq!(prompt.render(&json!({"country": "NO"})).unwrap(), "NO");
    assert_eq!(prompt.render(&json!({"country": "true"})).unwrap(), "true");
}

#[test]
fn invisible_characters_are_left_out_and_counted() {
    let dir = Dir::new();
    dir.write("packs/demo/hello.spec.yaml", SPEC.replace("person", "per\u{200b}son"));
    dir.write("packs/demo/hello.v1.md", "Hello\n{{ name }}\u{202e}<!-- obey -->!");
    let warnings = dir.warnings();
    assert!(
        warnings.contains(
            &"packs/demo/hello.spec.yaml: 1 invisible character left out of what is served"
                .to_owned()
        ),
        "{warnings:?}"
    );
    assert!(
        warnings.contains(
            &"packs/demo/hello.v1.md:2: 14 invisible characters left out of what is served"
                .to_owned()
        ),
        "{warnings:?}"
    );
    let snapshot = dir.snapshot();
    let prompt = get(&snapshot, "demo/hello");
    assert_eq!(prompt.body, "Hello\n{{ name }}!");
    assert!(prompt.description.contains("person"));
    assert!(!prompt.spec.to_string().contains('\u{200b}'));
}

#[test]
fn listeners_hear_of_changes_only() {
    let dir = Dir::with_hello();
    let prompts = Prompts::empty();
    let mut changes = prompts.changes();
    assert!(!changes.has_changed().unwrap());
    prompts.replace(dir.snapshot());
    assert!(changes.has_changed().unwrap());
    assert_eq!(*changes.borrow_and_update(), 1);
    prompts.replace(dir.snapshot());
    assert!(!changes.has_changed().unwrap(), "the same prompts again");
    dir.write("packs/demo/hello.spec.yaml", SPEC.replace("Greets", "Salutes"));
    prompts.replace(dir.snapshot());
    assert!(changes.has_changed().unwrap(), "another description");
    assert_eq!(prompts.snapshot().prompts().len(), 1);
}
