use proptest::prelude::{ProptestConfig, any, proptest};

use super::{Length, Point, summary};
use crate::prose::Prose;

const NEWS: &str = "# River floods the old town\n\nThe river Elm flooded the old town of Brackley on Monday after three days of \
    heavy rain. Firefighters brought two hundred people from flooded homes in the old town to safety.\n\nThe town's bakery \
    celebrated its birthday last week. The flood of the river Elm closed both bridges and the railway into Brackley. \
    Yes, it did. The river flooded the old town of Brackley on Monday after heavy rain of three days. The mayor said that \
    the town will rebuild the river wall before winter.";

fn points(text: &str, sentences: usize) -> Vec<Point> {
    summary(&Prose::read(text), Length { sentences, words: None })
}

#[test]
fn a_summary_keeps_the_order_and_does_not_repeat() {
    let points = points(NEWS, 3);
    assert_eq!(points.len(), 3);
    assert!(points.windows(2).all(|pair| pair[0].index < pair[1].index), "{points:?}");
    assert!(
        points[0].text.starts_with("The river Elm flooded the old town of Brackley"),
        "{points:?}"
    );
    let text: String = points.iter().map(|point| point.text.as_str()).collect();
    assert!(
        !text.contains("bakery") && !text.contains("Yes, it did") && !text.contains('#'),
        "{text}"
    );
    assert_eq!(text.matches("on Monday").count(), 1, "the same was said twice: {text}");
}

#[test]
fn length_is_kept() {
    assert_eq!(points(NEWS, 1).len(), 1);
    assert!(points(NEWS, 100).len() <= 8);
    let short = summary(&Prose::read(NEWS), Length { sentences: 100, words: Some(45) });
    let words: usize = short.iter().map(|point| point.text.split_whitespace().count()).sum();
    assert!(words <= 45 && short.len() >= 2, "{words} words: {short:?}");
    let tiny = summary(&Prose::read(NEWS), Length { sentences: 100, words: Some(1) });
    assert_eq!(tiny.len(), 1, "one sentence is better than none");
}

#[test]
fn other_scripts_and_odd_texts() {
    let chinese = "机器学习是人工智能的一个分支。今天天气很好。机器学习算法从数据中学习模型，人工智能依赖机器学习。";
    let found = points(chinese, 1);
    assert!(found[0].text.contains("机器学习"), "{found:?}");
    assert_eq!(points("", 3), []);
    assert_eq!(points("?! ... 12", 3), []);
    assert_eq!(
        points("Only a heading", 3).len(),
        1,
        "a text without a sentence is quoted as it is"
    );
    assert_eq!(
        points(&"Same words again here today. ".repeat(50), 5).len(),
        1,
        "what repeats is said once"
    );
}

#[test]
fn summaries_take_linear_time() {
    let text: String = (0..10_000)
        .map(|i| format!("Sentence number{i} speaks about topic{} and harbour{i}. ", i % 97))
        .collect();
    assert_eq!(points(&text, 20).len(), 20);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_summary_quotes(text in any::<String>(), sentences in 0usize..5) {
        let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for point in points(&text, sentences) {
            assert!(plain.contains(&point.text), "{point:?} is not in {plain:?}");
            assert!((0.0..=1.001).contains(&point.centrality) && point.score.is_finite());
        }
    }
}
