use proptest::collection::vec;
use proptest::prelude::{any, proptest};

use super::super::{ToolIndex, ToolSearch, ToolText};

proptest! {
    #[test]
    fn any_catalog_answers_any_request_and_always_the_same(
        texts in vec((any::<String>(), any::<String>(), any::<String>(), any::<String>()), 0..12),
        query in any::<String>(),
        words in vec("[a-z]{1,8}", 0..6),
        history in vec(any::<f32>(), 0..12),
        limit in 0usize..20,
    ) {
        let parameters: Vec<[(&str, &str); 1]> =
            texts.iter().map(|(_, _, name, about)| [(name.as_str(), about.as_str())]).collect();
        let tools: Vec<ToolText<'_>> = texts
            .iter()
            .zip(&parameters)
            .map(|((name, description, title, _), parameters)| ToolText { name, title, description, parameters })
            .collect();
        let query = format!("{query} {}", words.join(". "));
        let search = ToolSearch { query: &query, limit, history: Some(&history), visible: None };
        let index = ToolIndex::build(&tools, None);
        let hits = index.find(&search);

        assert!(hits.len() <= limit.min(tools.len()));
        assert!(hits.iter().all(|hit| hit.score.is_finite() && hit.score > 0.0));
        assert!(hits.is_sorted_by(|a, b| a.score > b.score || a.score == b.score && a.index < b.index));
        assert_eq!(hits, index.find(&search));
        assert_eq!(hits, ToolIndex::build(&tools, None).find(&search));
    }

    #[test]
    fn a_tool_is_found_by_its_own_name(names in vec("[a-z]{4,12}", 1..20)) {
        let tools: Vec<ToolText<'_>> =
            names.iter().map(|name| ToolText { name, ..ToolText::default() }).collect();
        let index = ToolIndex::build(&tools, None);
        for name in &names {
            let hits = index.search(name, names.len());
            assert!(hits.iter().any(|hit| names[hit.index] == *name), "{name}: {hits:?}");
        }
    }
}
