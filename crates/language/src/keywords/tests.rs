use proptest::prelude::{ProptestConfig, any, proptest};

use super::{LONGEST, keywords};
use crate::prose::Prose;

const SOLAR: &str = "Solar power is the conversion of energy from sunlight into electricity, either directly using \
    photovoltaics or indirectly using concentrated solar power. Photovoltaic cells convert light into an electric \
    current. Concentrated solar power systems use mirrors to focus sunlight, often to drive a steam turbine. Commercial \
    concentrated solar power plants were first developed in the 1980s. In 2023, solar power generated 5.5% of global \
    electricity.";

fn phrases(text: &str, limit: usize) -> Vec<String> {
    keywords(&Prose::read(text), limit, 3).into_iter().map(|found| found.phrase).collect()
}

#[test]
fn the_phrase_that_a_text_is_about_comes_first() {
    let found = keywords(&Prose::read(SOLAR), 5, 3);
    assert!(found[0].phrase.ends_with("solar power"), "{found:?}");
    assert_eq!((found[0].score, found[0].first_sentence), (1.0, 0));
    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score), "{found:?}");
    let names: Vec<_> = found.iter().map(|found| found.phrase.as_str()).collect();
    assert!(
        ["solar power", "concentrated solar power", "electricity"]
            .iter()
            .all(|name| names.contains(name)),
        "{names:?}"
    );
    for empty in ["solar", "power", "directly", "often"] {
        assert!(!names.contains(&empty), "`{empty}` in {names:?}");
    }
}

#[test]
fn other_languages_and_scripts_have_phrases_too() {
    let german = "Die Energiewende ist ein Projekt der Bundesregierung. Mit der Energiewende soll der Anteil \
        erneuerbarer Energien steigen. Die Energiewende ist wichtig für den Klimaschutz.";
    assert_eq!(phrases(german, 1), ["Energiewende"]);
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
    for text in ["", " \n\t", "...", "the of and", "123 456.7", "?!", "\u{200b}", "a"] {
        assert_eq!(phrases(text, 10), Vec::<String>::new(), "{text:?}");
    }
}

#[test]
fn limits_hold() {
    assert_eq!(keywords(&Prose::read(SOLAR), 2, 3).len(), 2);
    assert_eq!(keywords(&Prose::read(SOLAR), 0, 3).len(), 0);
    let single = keywords(&Prose::read(SOLAR), 50, 1);
    assert!(single.iter().all(|found| !found.phrase.contains(' ')), "{single:?}");
    let long = keywords(&Prose::read(SOLAR), 50, 99);
    assert!(long.iter().all(|found| found.phrase.split(' ').count() <= LONGEST));
}

#[test]
fn a_huge_text_is_read_up_to_a_bound() {
    let text =
        "The quick brown fox jumps over the lazy dog near river bank number seven. ".repeat(20_000);
    let prose = Prose::read(&text);
    assert!(prose.truncated);
    assert_eq!(keywords(&prose, 3, 3).len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn keywords_are_phrases_of_the_text(text in any::<String>(), longest in 0usize..6) {
        for found in keywords(&Prose::read(&text), 20, longest) {
            assert!(!found.phrase.is_empty() && found.score > 0.0 && found.score <= 1.0, "{found:?}");
        }
    }
}
