mod any_text;
mod with_model;

use super::{Hit, ToolIndex, ToolSearch, ToolText};

const WEATHER: ToolText<'_> = ToolText {
    name: "getCurrentWeather",
    title: "",
    description: "Look up the weather of a place right now.",
    parameters: &[("city", "The city, such as Paris"), ("units", "celsius or fahrenheit")],
};
const MAIL: ToolText<'_> = ToolText {
    name: "send_email",
    title: "Send an e-mail",
    description: "Delivers a message to a mailbox.",
    parameters: &[("recipient", "Who to write to")],
};
const STOCK: ToolText<'_> = ToolText {
    name: "stock.quote",
    title: "",
    description: "The price of a share at an exchange.",
    parameters: &[("ticker", "Symbol of the company")],
};
const AIR: ToolText<'_> = ToolText {
    name: "airqualityforecast",
    title: "",
    description: "Two days ahead.",
    parameters: &[],
};
const TOOLS: [ToolText<'_>; 4] = [WEATHER, MAIL, STOCK, AIR];

fn first(query: &str) -> Option<usize> {
    ToolIndex::build(&TOOLS, None).search(query, 1).first().map(|hit| hit.index)
}

#[test]
fn a_request_finds_its_tool() {
    for (query, tool) in [
        ("what's the weather like in Rome?", 0),
        ("GETCURRENTWEATHER", 0),
        ("fahrenheit", 0),
        ("Please send Anna a message", 1),
        ("sendEmail", 1),
        ("recipients", 1),
        ("share prices", 2),
        ("ticker symbol", 2),
    ] {
        assert_eq!(first(query), Some(tool), "{query}");
    }
}

#[test]
fn words_of_one_concept_are_equivalent() {
    // None of these words occurs in any tool.
    assert_eq!(first("Will it rain tomorrow?"), Some(0));
    assert_eq!(first("nasdaq"), Some(2));
}

#[test]
fn misspelt_and_compound_words_are_found() {
    assert_eq!(first("wheather"), Some(0));
    assert_eq!(first("airquality"), Some(3));
}

#[test]
fn the_requested_word_counts_more_than_related_ones() {
    let tools = [
        ToolText { name: "a", description: "Find a film", ..ToolText::default() },
        ToolText { name: "b", description: "Find a movie", ..ToolText::default() },
    ];
    let index = ToolIndex::build(&tools, None);
    assert_eq!(index.search("movie", 2).iter().map(|hit| hit.index).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(index.search("film", 2).iter().map(|hit| hit.index).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn every_clause_of_a_request_finds_its_tool() {
    let fillers: Vec<String> = (0..20).map(|i| format!("filler{i}")).collect();
    let described = |description| ToolText { description, ..ToolText::default() };
    let mut tools = vec![
        described("aardvark buffalo cheetah dolphin echidna flamingo"),
        described("aardvark buffalo cheetah"),
        described("omelette pancake"),
    ];
    tools.extend(fillers.iter().map(|filler| described(filler)));
    let index = ToolIndex::build(&tools, None);
    let found =
        |query: &str| index.search(query, 2).iter().map(|hit| hit.index).collect::<Vec<_>>();
    let words = "aardvark buffalo cheetah dolphin echidna flamingo";
    // As one clause, the second half of the animals outweighs the food; as two, the food finds its tool.
    assert_eq!(found(&format!("{words} omelette pancake")), [0, 1]);
    assert_eq!(found(&format!("{words}. Then omelette pancake")), [0, 2]);
}

#[test]
fn stop_words_alone_still_find_a_name() {
    let tools = [ToolText { name: "who", description: "Lists users", ..ToolText::default() }, MAIL];
    let hits = ToolIndex::build(&tools, None).search("who is it?", 5);
    assert_eq!(hits.first().map(|hit| hit.index), Some(0));
}

#[test]
fn nothing_is_found_for_nothing() {
    let index = ToolIndex::build(&TOOLS, None);
    for query in ["", "   ", "?!…", "\u{301}"] {
        assert_eq!(index.search(query, 5), [], "{query:?}");
    }
    assert_eq!(index.search("weather", 0), []);
    assert_eq!(index.search("qqqqzzzz", 5), []);
    let none = ToolIndex::build(&[], None);
    assert!(none.is_empty());
    assert_eq!(none.search("weather", 5), []);
}

#[test]
fn use_history_only_decides_between_matches() {
    let tools = [MAIL, WEATHER, MAIL];
    let index = ToolIndex::build(&tools, None);
    let order = |history: Option<&[f32]>| -> Vec<usize> {
        let search =
            ToolSearch { query: "send a message to the mailbox", limit: 9, history, visible: None };
        index.find(&search).iter().map(|hit: &Hit| hit.index).collect()
    };
    assert_eq!(order(None), [0, 2]);
    assert_eq!(order(Some(&[0.0, 1.0, 0.5])), [2, 0]);
    assert_eq!(order(Some(&[f32::NAN, f32::INFINITY, 0.1])), [2, 0]);
    assert_eq!(
        order(Some(&[-5.0])),
        [0, 2],
        "a short list is filled up, a bad number brought to bounds"
    );
}

#[test]
fn only_visible_tools_are_found_and_scored() {
    let index = ToolIndex::build(&TOOLS, None);
    let visible = |tool: usize| tool != 0;
    let search =
        ToolSearch { query: "weather message", limit: 9, history: None, visible: Some(&visible) };
    let hits = index.find(&search);
    assert_eq!(hits.iter().map(|hit| hit.index).collect::<Vec<_>>(), [1]);
    assert_eq!(hits[0].parts.words, 1.0, "the best of what is seen sets the measure");
    let none = |_: usize| false;
    assert_eq!(index.find(&ToolSearch { visible: Some(&none), ..search }), []);
}

#[test]
fn only_the_beginning_of_a_long_request_is_read() {
    let query = format!("weather {}", "lorem ipsum. ".repeat(100_000));
    assert_eq!(first(&query), Some(0));
    // A character on the edge of what is read is not cut through.
    assert_eq!(first(&format!("weather {}", "é".repeat(10_000))), Some(0));
}
