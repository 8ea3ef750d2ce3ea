use std::time::Duration;

use super::*;

#[test]
fn routing_lists_groups_in_order() {
    use ProviderName::{Brave, Duckduckgo, Exa, Serper};
    let routing = parse_routing("brave, serper+exa+serper,duckduckgo").unwrap();
    assert_eq!(routing, [vec![Brave], vec![Serper, Exa], vec![Duckduckgo]]);
    assert!(parse_routing("bing").unwrap_err().to_string().contains("duckduckgo"));
    assert!(parse_routing("arxiv").is_err());
}

#[test]
fn quotas_are_requests_in_a_period() {
    let quota: Quota = "1000/1d".parse().unwrap();
    assert_eq!(quota, Quota { requests: 1_000, period: Duration::from_secs(86_400) });
    assert!("1000".parse::<Quota>().is_err());
    assert!("x/1d".parse::<Quota>().is_err());
}

/// The table of the guide is made of the rows. Where it differs, copy it from the failure.
#[test]
fn the_guide_lists_every_provider_as_its_row_says() {
    let guide = include_str!("../../../../docs/src/guide/web-research.md");
    let mut table = String::from("| provider | finds | set-up |\n|---|---|---|\n");
    for name in ProviderName::ALL {
        let finds = match name.row().finds {
            Finds::Publications => "publications".to_owned(),
            Finds::Pages(kinds) => {
                kinds.iter().map(|kind| noun(*kind)).collect::<Vec<_>>().join(", ")
            }
        };
        let setup: Vec<_> = name.setup().split(' ').map(markdown).collect();
        table.push_str(&format!("| `{name}` | {finds} | {} |\n", setup.join(" ")));
    }
    assert!(guide.contains(&table), "docs/src/guide/web-research.md should contain:\n{table}");
}

fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Web => "web",
        Kind::Image => "images",
        Kind::News => "news",
    }
}

/// Addresses as links and variables as code.
fn markdown(word: &str) -> String {
    let bare = word.trim_matches(['(', ')', '.', ';', ',']);
    let is_variable = bare.contains('_')
        && bare.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    if bare.starts_with("https://") {
        word.replace(bare, &format!("<{bare}>"))
    } else if is_variable {
        word.replace(bare, &format!("`{bare}`"))
    } else {
        word.to_owned()
    }
}

#[test]
fn every_need_of_a_provider_has_a_variable_that_its_setup_names() {
    for name in ProviderName::ALL {
        let row = name.row();
        for need in row.needs {
            let variable = row.variables.iter().find(|(_, target)| target == need);
            let (variable, _) =
                variable.unwrap_or_else(|| panic!("{name} has a variable for {need:?}"));
            assert!(row.setup.contains(variable), "{name}: {}", row.setup);
        }
        assert!(row.url.is_some() || row.needs.contains(&Target::Url), "{name} has an address");
    }
}
