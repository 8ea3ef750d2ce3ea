//! The server as a program: its tools over stdin and stdout, with the real tesseract.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests play the client")]

#[path = "process/client.rs"]
mod client;
#[path = "process/pictures.rs"]
mod pictures;

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use self::client::Client;

const POST: &str = "Größer denken? Tired of slow mornings?\nOur amazing new roast is here 🔥 Order yours today: https://shop.example/roast #coffee #Frühstück @roaster";

fn fault(result: &Value) -> &Value {
    assert_eq!(result["isError"], json!(true), "{result}");
    &result["_meta"]["powerstrip/fault"]
}

/// The contributions of a score add up to it.
fn check_parts(scored: &Value) {
    let parts = scored["parts"].as_array().unwrap();
    let total: f64 = parts.iter().map(|part| part["contribution"].as_f64().unwrap()).sum();
    assert!((total - scored["score"].as_f64().unwrap()).abs() < 0.006, "{scored}");
    for part in parts {
        let [weight, value, added] =
            ["weight", "value", "contribution"].map(|name| part[name].as_f64().unwrap());
        assert!((100.0 * weight * value - added).abs() < 0.011, "{part}");
        assert!(part["name"].is_string() && part["evidence"][0].is_string(), "{part}");
    }
}

#[test]
fn a_post_is_analysed() {
    let mut client = Client::start(&[]);
    let read = client.answer("analyze_creative", json!({"text": POST, "platform": "x"}));
    check_parts(&read);
    assert_eq!(read["hook"]["kind"], json!("question"), "{read}");
    assert_eq!(read["call_to_action"]["text"], json!("Order yours today"));
    let start = usize::try_from(read["call_to_action"]["start"].as_u64().unwrap()).unwrap();
    let rest: String = POST.chars().skip(start).collect();
    assert!(rest.starts_with("Order yours today"), "{rest}");
    assert_eq!(read["language"], json!("en"));
    assert!(read["reading_ease"].is_number());
    assert!(read["emotion"]["valence"].as_f64().unwrap() > 0.0, "{read}");
    assert!(read["emotion"]["words"].as_array().unwrap().contains(&json!("amazing")));
    assert_eq!(read["hashtags"], json!(["#coffee", "#Frühstück"]));
    assert_eq!(read["links"], json!(["https://shop.example/roast"]));
    assert_eq!((&read["mentions"], &read["emoji"]), (&json!(["@roaster"]), &json!(["🔥"])));
    assert_eq!(read["length"]["limit"], json!(280));
    // The link counts 23 characters on X, and the emoji two.
    let characters = POST.chars().count() - "https://shop.example/roast".len() + 23 + 1;
    assert_eq!(read["length"]["characters"], json!(characters));
    assert_eq!((&read["image"], read.get("engine")), (&Value::Null, None));
    assert!(read["findings"].is_array() && read.get("skipped").is_none(), "{read}");

    let read = client.answer("analyze_creative", json!({"text": POST, "platform": "instagram"}));
    let kinds: Vec<&Value> =
        read["findings"].as_array().unwrap().iter().map(|finding| &finding["kind"]).collect();
    assert!(kinds.contains(&&json!("link_not_clickable")), "{read}");
    assert_eq!(read["length"]["shown"], json!(125));
}

#[test]
fn a_picture_is_measured_and_its_text_is_seen() {
    let mut client = Client::start(&[]);
    let picture = pictures::poster(1080, 1350);
    let read = client.answer(
        "analyze_creative",
        json!({"image_data": picture, "image_type": "image/png", "platform": "instagram"}),
    );
    check_parts(&read);
    let image = &read["image"];
    assert_eq!((&image["width"], &image["height"]), (&json!(1080), &json!(1350)));
    assert_eq!((&image["aspect"], &image["fits"]), (&json!(0.8), &json!(true)));
    assert_eq!(image["colors"][0]["hex"], json!("#14508c"), "{image}");
    assert!(image["contrast"].as_f64().unwrap() > 0.5, "{image}");
    assert!(image["text_share"].as_f64().unwrap() > 0.0, "{image}");
    assert_eq!(read["engine"]["name"], json!("tesseract"));
    for empty in ["hook", "call_to_action", "reading_ease", "emotion", "length", "language"] {
        assert_eq!(read[empty], Value::Null, "{empty}");
    }
    assert!(read.get("skipped").is_none() && read.get("warnings").is_none(), "{read}");

    let wide = client.answer(
        "analyze_creative",
        json!({"image_data": picture, "image_type": "image/gif", "platform": "youtube"}),
    );
    assert_eq!(wide["image"]["fits"], json!(false));
    assert!(wide["warnings"][0].as_str().unwrap().contains("image/png"), "{wide}");
}

#[test]
fn without_tesseract_the_share_of_text_is_skipped() {
    let mut client = Client::start(&["--tesseract", "/nonexistent"]);
    let input =
        json!({"image_data": pictures::poster(600, 600), "text": POST, "platform": "facebook"});
    let read = client.answer("analyze_creative", input.clone());
    check_parts(&read);
    assert_eq!(read["image"]["text_share"], Value::Null);
    assert!(read["image"]["contrast"].is_number());
    assert_eq!(read["skipped"][0]["what"], json!("image.text_share"));
    assert_eq!(read["skipped"][0]["fix"], json!("apt install tesseract-ocr"));
    assert!(read.get("engine").is_none());
    let scored = client.answer("score_virality", input);
    assert!(scored.get("skipped").is_none(), "{scored}");
}

#[test]
fn a_program_that_prints_too_much_costs_the_share_of_text_only() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("tesseract");
    let script = "#!/bin/sh\ncase \"$*\" in\n  --version) echo tesseract 5.0.0;;\n  *) while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done;;\nesac\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut client = Client::start(&["--tesseract", program.to_str().unwrap()]);
    let input = json!({"image_data": pictures::poster(300, 300), "platform": "x"});
    let read = client.answer("analyze_creative", input);
    assert_eq!(read["image"]["text_share"], Value::Null);
    assert!(read["skipped"][0]["why"].as_str().unwrap().contains("prints more than"), "{read}");
}

#[test]
fn signals_are_scored_with_suggestions() {
    let mut client = Client::start(&[]);
    let text = "Our report is out.";
    let read = client.answer(
        "score_virality",
        json!({"text": text, "image_data": pictures::poster(640, 360), "platform": "linkedin"}),
    );
    check_parts(&read["share_signal"]);
    check_parts(&read["click_signal"]);
    assert_eq!(read["calibrated"], json!(false));
    assert!(read["weights_version"].is_string());
    assert_eq!(read["features"]["call_to_action"], json!(0.0));
    assert!(read["features"]["image_contrast"].is_number());
    let suggested = read["suggestions"].as_array().unwrap();
    assert!((1..=5).contains(&suggested.len()), "{read}");
    assert!(suggested.iter().any(|one| one["feature"] == json!("call_to_action")), "{read}");
    let better = format!("{text} Read it here: https://a.example/report");
    let raised = client.answer(
        "score_virality",
        json!({"text": better, "image_data": pictures::poster(640, 360), "platform": "linkedin"}),
    );
    let click = |read: &Value| read["click_signal"]["score"].as_f64().unwrap();
    assert!(click(&raised) > click(&read));
    let alone = client.answer("score_virality", json!({"text": text, "platform": "x"}));
    assert_eq!(alone["features"]["image_contrast"], Value::Null);
}

#[test]
fn variants_are_ranked_with_reasons() {
    let mut client = Client::start(&[]);
    let texts = json!(["Our roast.", POST, "Kaffee ist da."]);
    let read = client.answer("compare_variants", json!({"texts": texts, "platform": "x"}));
    let ranking = read["ranking"].as_array().unwrap();
    assert_eq!((ranking.len(), &ranking[0]["index"]), (3, &json!(1)), "{read}");
    assert!(ranking[0]["why"][0].is_string() && ranking[0]["share"].is_number());
    let scored = client.answer("score_virality", json!({"text": POST, "platform": "x"}));
    assert_eq!(ranking[0]["click"], scored["click_signal"]["score"]);

    let pictures = json!([pictures::poster(300, 900), pictures::poster(1200, 628)]);
    let read =
        client.answer("compare_variants", json!({"image_data": pictures, "platform": "linkedin"}));
    assert_eq!(read["ranking"][0]["index"], json!(1), "{read}");
    let both = json!({"texts": ["One", "Two"], "image_data": pictures, "platform": "linkedin"});
    assert_eq!(client.answer("compare_variants", both)["ranking"].as_array().unwrap().len(), 2);
}

#[test]
fn input_that_cannot_be_used_says_what_to_do() {
    let mut client = Client::start(&["--tesseract", "/nonexistent"]);
    let picture = pictures::poster(400, 400);
    let whole = pictures::poster_bytes(400, 400);
    let damaged = pictures::encode(&whole[..whole.len() / 2]);
    let many = vec!["text"; 11];
    for (tool, input, path, said) in [
        ("analyze_creative", json!({"platform": "x"}), "/", "image_data"),
        ("analyze_creative", json!({"text": "hi"}), "/", "platform"),
        ("analyze_creative", json!({"text": "hi", "platform": "myspace"}), "/platform", "myspace"),
        ("analyze_creative", json!({"text": "", "platform": "x"}), "/text", "shorter"),
        ("analyze_creative", json!({"text": " \u{200b}!", "platform": "x"}), "/text", "words"),
        (
            "analyze_creative",
            json!({"text": "hi", "platform": "x", "file": "/etc/passwd"}),
            "/",
            "file",
        ),
        (
            "analyze_creative",
            json!({"text": "hi", "image_type": "image/png", "platform": "x"}),
            "/image_type",
            "image_data",
        ),
        ("analyze_creative", json!({"text": 5, "platform": "x"}), "/text", "string"),
        ("score_virality", json!({"image_data": "%%%", "platform": "x"}), "/image_data", "base64"),
        (
            "score_virality",
            json!({"image_data": pictures::encode(b"just text"), "platform": "x"}),
            "/image_data",
            "not a picture",
        ),
        ("compare_variants", json!({"platform": "x"}), "/", "texts"),
        ("compare_variants", json!({"texts": ["one"], "platform": "x"}), "/texts", "2"),
        ("compare_variants", json!({"texts": many, "platform": "x"}), "/texts", "10"),
        (
            "compare_variants",
            json!({"texts": ["one", "..."], "platform": "x"}),
            "/texts/1",
            "words",
        ),
        (
            "compare_variants",
            json!({"texts": ["a", "b", "c"], "image_data": [picture, picture], "platform": "x"}),
            "/image_data",
            "index",
        ),
        (
            "compare_variants",
            json!({"image_data": [picture, "%"], "platform": "x"}),
            "/image_data/1",
            "base64",
        ),
    ] {
        let result = client.call(tool, input);
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(fault(&result)["code"], json!("INVALID_INPUT"), "{said}: {result}");
        assert!(text.contains(said), "{said}: {text}");
        assert_eq!(fault(&result)["details"]["errors"][0]["path"], json!(path), "{result}");
    }
    for (data, reason) in [(damaged, "damaged"), (pictures::encode(&pictures::bomb()), "too_large")]
    {
        let result = client.call("analyze_creative", json!({"image_data": data, "platform": "x"}));
        assert_eq!(fault(&result)["code"], json!("INVALID_INPUT"), "{result}");
        assert_eq!(fault(&result)["details"]["reason"], json!(reason), "{result}");
    }
    client.answer("analyze_creative", json!({"image_data": picture, "platform": "x"}));
}

#[test]
fn long_texts_are_counted_and_read_in_part() {
    let mut client = Client::start(&[]);
    let tags: String = (0..10_000).map(|number| format!("#tag{number} ")).collect();
    for (text, warned) in
        [("a".repeat(2_000_000), true), ("🔥".repeat(200_000), true), (tags, false)]
    {
        let read = client.answer("analyze_creative", json!({"text": text, "platform": "facebook"}));
        assert_eq!(read["length"]["characters"], json!(text.chars().count()));
        assert_eq!(read["findings"][0]["kind"], json!("too_long"));
        let warns = read["warnings"].to_string().contains("100000 characters");
        assert_eq!(warns, warned, "{}", read["warnings"]);
    }
    let foreign = json!({"text": "Сегодня хорошая погода в городе", "platform": "x"});
    let read = client.answer("analyze_creative", foreign);
    assert!(read["warnings"][0].as_str().unwrap().contains("English, German"), "{read}");
    assert_eq!((&read["reading_ease"], &read["emotion"]), (&Value::Null, &Value::Null));
    let result =
        client.call("analyze_creative", json!({"text": "a".repeat(2_000_001), "platform": "x"}));
    assert_eq!(fault(&result)["code"], json!("INVALID_INPUT"), "{result}");
}
