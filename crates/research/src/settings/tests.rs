use std::time::Duration;

use search::settings::{ProviderName, ProviderSettings};

use super::*;

fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn variables_fill_in_what_the_configuration_leaves_open() {
    let mut settings = Settings::default();
    let own = ProviderSettings { key: Some("own".into()), ..ProviderSettings::default() };
    settings.search.providers.insert(ProviderName::Brave, own);
    settings.set_timeout("html", "20s", "research.timeouts.html").unwrap();
    let faults = settings.complete(&variables(&[
        ("BRAVE_API_KEY", "other"),
        ("SERPER_API_KEY", "serper-key"),
        ("EXA_API_KEY", " "),
        ("SEARXNG_URL", "http://127.0.0.1:8080"),
        ("SEARCH_ROUTING", "serper"),
        ("POWERSTRIP_RESEARCH_TIMEOUT_SEARCH", "45s"),
        ("POWERSTRIP_RESEARCH_TIMEOUT_HTML", "1s"),
        ("POWERSTRIP_RESEARCH_TIMEOUT_BROWSER", ""),
        ("POWERSTRIP_RESEARCH_SIZE_PAGE", "20KB"),
        ("POWERSTRIP_RESEARCH_SIZE_COMBINED", " "),
        ("POWERSTRIP_RESEARCH_URL_EXA", ""),
    ]));
    assert_eq!(faults, [], "an empty value counts as not set");
    let key = |name| settings.search.provider(name).key.map(|key| key.expose().to_owned());
    assert_eq!(key(ProviderName::Brave).as_deref(), Some("own"));
    assert_eq!(key(ProviderName::Serper).as_deref(), Some("serper-key"));
    assert_eq!(key(ProviderName::Exa), None);
    assert_eq!(settings.search.routing, [vec![ProviderName::Serper]]);
    assert_eq!(settings.timeouts.search, Duration::from_secs(30));
    assert_eq!(settings.timeouts.html, Duration::from_secs(20));
    assert_eq!(settings.sizes.page, 20_480, "1 KB is 1024 bytes, as in the config");
    assert_eq!(settings.warnings.len(), 1);
    assert!(settings.warnings[0].starts_with("POWERSTRIP_RESEARCH_TIMEOUT_SEARCH"));
}

#[test]
fn bad_values_name_their_variable() {
    for (name, value) in [
        ("SEARXNG_URL", "ftp://x"),
        ("POWERSTRIP_RESEARCH_TIMEOUT_SEARCH", "soon"),
        ("POWERSTRIP_RESEARCH_TIMEOUT_LUNCH", "1s"),
        ("POWERSTRIP_RESEARCH_SIZE_PAGE", "0"),
    ] {
        let faults = Settings::default().complete(&variables(&[(name, value)]));
        assert!(matches!(&faults[..], [fault] if fault.setting == name), "{faults:?}");
    }
}

#[test]
fn a_bad_value_leaves_the_others_in_force() {
    let mut settings = Settings::default();
    let faults = settings.complete(&variables(&[
        ("SEARCH_ROUTING", "bing"),
        ("SEARXNG_URL", "nowhere"),
        ("SEMANTIC_SCHOLAR_API_KEY", "key"),
        ("POWERSTRIP_RESEARCH_TIMEOUT_HTML", "7s"),
    ]));
    let wrong: Vec<_> = faults.iter().map(|fault| fault.setting.as_str()).collect();
    assert_eq!(wrong, ["SEARCH_ROUTING", "SEARXNG_URL"]);
    assert!(settings.search.provider(ProviderName::SemanticScholar).key.is_some());
    assert_eq!(settings.timeouts.html, Duration::from_secs(7));
}

#[test]
fn every_limit_has_the_default_and_maximum_of_the_table() {
    let (mut timeouts, mut sizes) = (Timeouts::default(), Sizes::default());
    let defaults = [
        timeouts.search,
        timeouts.markdown,
        timeouts.html,
        timeouts.browser,
        timeouts.youtube,
        timeouts.download,
        timeouts.total,
    ];
    assert_eq!(defaults.map(|time| time.as_secs()), [10, 5, 15, 30, 30, 30, 60]);
    for name in ["search", "markdown", "html", "browser", "youtube", "download", "total"] {
        assert!(timeouts.set(name, Duration::from_secs(600)).unwrap().is_some());
    }
    let maxima = [
        timeouts.search,
        timeouts.markdown,
        timeouts.html,
        timeouts.browser,
        timeouts.youtube,
        timeouts.download,
        timeouts.total,
    ];
    assert_eq!(maxima.map(|time| time.as_secs()), [30, 10, 30, 60, 60, 60, 120]);
    for name in ["page", "combined", "transcript", "download"] {
        assert!(sizes.set(name, u64::MAX).unwrap().is_some());
    }
    let sizes = [sizes.page, sizes.combined, sizes.transcript, sizes.download];
    assert_eq!(sizes, [50_000, 300_000, 100_000, 10_000_000]);
}
