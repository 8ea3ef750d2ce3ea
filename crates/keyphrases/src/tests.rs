use language::prose::Prose;
use proptest::prelude::{ProptestConfig, any, proptest};

use super::{LONGEST, keyphrases};

const SOLAR: &str = "Solar power is the conversion of energy from sunlight into electricity, either directly using \
    photovoltaics or indirectly using concentrated solar power. Photovoltaic cells convert light into an electric \
    current. Concentrated solar power systems use mirrors to focus sunlight, often to drive a steam turbine. Commercial \
    concentrated solar power plants were first developed in the 1980s. In 2023, solar power generated 5.5% of global \
    electricity.";

fn phrases(text: &str, limit: usize) -> Vec<String> {
    keyphrases(&Prose::read(text), limit, LONGEST).into_iter().map(|found| found.phrase).collect()
}

#[test]
fn the_phrase_that_a_text_is_about_comes_first() {
    let found = keyphrases(&Prose::read(SOLAR), 8, LONGEST);
    assert!(found[0].phrase.ends_with("solar power"), "{found:?}");
    assert_eq!(found[0].score, 1.0);
    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score), "{found:?}");
    let names: Vec<_> = found.iter().map(|found| found.phrase.as_str()).collect();
    for name in ["solar power", "photovoltaic cells", "steam turbine"] {
        assert!(names.contains(&name), "no `{name}` in {names:?}");
    }
    for empty in ["solar", "power", "directly", "often", "convert light", "focus sunlight"] {
        assert!(!names.contains(&empty), "`{empty}` in {names:?}");
    }
}

#[test]
fn verbs_and_vague_adjectives_are_in_no_phrase() {
    let found = phrases(
        "We propose a novel scheduling algorithm. The proposed scheduling algorithm improves throughput significantly. \
         Several related methods reduce latency.",
        20,
    );
    assert_eq!(found[0], "scheduling algorithm");
    for phrase in ["throughput", "latency", "methods"] {
        assert!(found.iter().any(|found| found == phrase), "no `{phrase}` in {found:?}");
    }
}

#[test]
fn plurals_hyphens_and_orders_give_one_phrase() {
    let found = phrases("The web server sends an e-mail. Web servers send email and emails.", 20);
    let count = |start: &str| found.iter().filter(|found| found.starts_with(start)).count();
    assert_eq!((count("web serv"), count("e")), (1, 1), "{found:?}");
}

#[test]
fn names_keep_their_capitals_and_first_words_do_not() {
    let found = phrases(
        "Turing was born in London. Machines that think interested Alan Turing. Thinking machines are a topic of Turing.",
        20,
    );
    assert!(found.iter().any(|found| found == "Turing"), "{found:?}");
    assert!(found.iter().any(|found| found == "machines"), "{found:?}");
    let title = phrases("A STUDY OF SOLAR CELL EFFICIENCY\n\nThe study measures a solar cell.", 20);
    assert!(title.iter().any(|found| found == "solar cell"), "{title:?}");
}

#[test]
fn other_languages_and_scripts_have_phrases_too() {
    let german = "Die Energiewende ist ein Projekt der Bundesregierung. Mit der Energiewende soll der Anteil \
        erneuerbarer Energien steigen. Die Energiewende ist wichtig für den Klimaschutz.";
    let found = phrases(german, 10);
    assert_eq!(found[0], "Energiewende");
    assert!(found.iter().any(|found| found == "erneuerbarer Energien"), "{found:?}");
    assert!(
        !found.iter().any(|found| found.contains("steigen") || found.contains("wichtig")),
        "{found:?}"
    );
    let chinese = "机器学习是人工智能的一个分支。机器学习算法从数据中学习模型。深度学习是机器学习的一种方法。";
    assert_eq!(phrases(chinese, 1), ["机器学习"]);
    let japanese =
        "東京タワーは東京都港区にある電波塔である。東京タワーの高さは333メートルである。";
    assert_eq!(phrases(japanese, 1), ["東京タワー"]);
    let russian =
        "Искусственный интеллект меняет мир. Многие компании внедряют искусственный интеллект.";
    assert_eq!(phrases(russian, 1), ["искусственный интеллект"]);
    let arabic = "الطاقة الشمسية مهمة. تعتمد الدول على الطاقة الشمسية.";
    assert_eq!(phrases(arabic, 1), ["الطاقة الشمسية"]);
    assert!(!phrases("พลังงานแสงอาทิตย์ เป็นพลังงาน", 3).is_empty());
}

#[test]
fn nothing_comes_of_nothing() {
    for text in ["", " \n\t", "...", "the of and", "123 456.7", "?!", "\u{200b}", "a", "🎉🎉 🎉"]
    {
        assert_eq!(phrases(text, 10), Vec::<String>::new(), "{text:?}");
    }
}

#[test]
fn limits_hold() {
    assert_eq!(keyphrases(&Prose::read(SOLAR), 2, 3).len(), 2);
    assert_eq!(keyphrases(&Prose::read(SOLAR), 0, 3).len(), 0);
    let single = keyphrases(&Prose::read(SOLAR), 50, 1);
    assert!(single.iter().all(|found| !found.phrase.contains(' ')), "{single:?}");
    let long = keyphrases(&Prose::read(SOLAR), 50, 99);
    assert!(long.iter().all(|found| found.phrase.split(' ').count() <= LONGEST));
}

#[test]
fn a_huge_text_is_read_up_to_a_bound() {
    let text =
        "The quick brown fox jumps over the lazy dog near river bank number seven. ".repeat(20_000);
    let prose = Prose::read(&text);
    assert!(prose.truncated);
    assert_eq!(keyphrases(&prose, 3, 3).len(), 3);
    let text = "word ".repeat(20_000);
    let found = keyphrases(&Prose::read(&text), 3, 3);
    assert_eq!((found.len(), found[0].occurrences), (1, 20_000));
    assert_eq!(phrases(&format!("key {}", "a".repeat(100_000)), 3), ["key"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn keyphrases_are_phrases_of_the_text(text in any::<String>(), longest in 0usize..6) {
        let parted = super::part_lines(&text);
        assert_eq!(parted.replace('\n', ""), text.replace('\n', ""));
        for found in keyphrases(&Prose::read(&parted), 20, longest) {
            assert!(!found.phrase.is_empty() && found.score > 0.0 && found.score <= 1.0, "{found:?}");
        }
    }
}
