use std::collections::{BTreeMap, BTreeSet};

use schema::yaml;

use super::{LIMITS, Listing, SERVERS, listings, search};

#[test]
fn every_listing_is_complete_and_can_be_added() {
    let listed: Vec<Listing> = yaml::parse(SERVERS, LIMITS).unwrap();
    assert!(listed.len() >= 40, "{}", listed.len());
    let (own, listed): (Vec<_>, Vec<_>) = listed.into_iter().partition(|listing| listing.bundled);
    for listing in own {
        // Where the program is not installed, the reason says how it is.
        let recipe = listing.recipe(&[], &BTreeMap::new());
        let why = recipe.err().unwrap_or_else(|| "is not installed: install".to_owned());
        assert!(why.contains("is not installed: install"), "{why}");
        assert_eq!(listing.command, [listing.name], "the name is the program's");
    }
    let names: Vec<_> = listed.iter().map(|listing| listing.name.clone()).collect();
    let sorted: BTreeSet<_> = names.iter().cloned().collect();
    assert_eq!(names, sorted.into_iter().collect::<Vec<_>>(), "sorted, each once");
    for listing in &listed {
        let name = &listing.name;
        assert!(listing.homepage.starts_with("https://"), "{name}");
        assert!(!listing.license.is_empty() && !listing.about.ends_with('.'), "{name}");
        assert_ne!(listing.url.is_some(), !listing.command.is_empty(), "{name}");
        let given: BTreeMap<_, _> =
            listing.env.keys().map(|key| (key.clone(), "x".to_owned())).collect();
        let recipe = listing.recipe(&["x".to_owned()], &given).unwrap();
        assert_eq!(recipe.inputs.len(), listing.secrets.len() + listing.bearer.len(), "{name}");
    }
}

#[test]
fn missing_values_are_named() {
    let listed = listings();
    let one = |name: &str| listed.iter().find(|listing| listing.name == name).unwrap();
    let refused = |name: &str| one(name).recipe(&[], &BTreeMap::new()).unwrap_err();
    assert!(refused("filesystem").contains("--arg"));
    assert!(refused("grafana").contains("-e GRAFANA_URL=VALUE"));
    assert!(search("GitHub").iter().any(|listing| listing.name == "github"));
}
