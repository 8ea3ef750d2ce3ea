//! Sentences that sell something. They state nothing that a report may repeat.

/// Phrases of advertisements.
const PHRASES: [&str; 68] = [
    "#1 ",
    "number one choice",
    "award-winning",
    "best decision",
    "best in the world",
    "book a demo",
    "book now",
    "buy now",
    "buy today",
    "cutting-edge",
    "don't miss",
    "effortless",
    "free trial",
    "game changer",
    "game-changer",
    "game-changing",
    "get started today",
    "hassle-free",
    "is the future of",
    "limited time offer",
    "market-leading",
    "miracle",
    "money-back",
    "next-generation platform",
    "no credit card",
    "order now",
    "order today",
    "our brand",
    "our clients",
    "our customers",
    "our experts",
    "our founder",
    "our patented",
    "our platform",
    "our product",
    "our solution",
    "revolutionary",
    "revolutionize",
    "risk-free",
    "satisfied customers",
    "save big",
    "seamless",
    "special offer",
    "state-of-the-art",
    "supercharge",
    "the leading platform",
    "the leading provider",
    "the world's best",
    "the world’s best",
    "transform your",
    "trusted by",
    "unbeatable",
    "unleash",
    "unlock the power",
    "unrivalled",
    "world-class",
    "buchen sie",
    "die besten der welt",
    "einzigartiges angebot",
    "erleben sie",
    "jetzt sichern",
    "kostenlos testen",
    "sichern sie sich",
    "sparen sie",
    "testsieger",
    "unschlagbar",
    "unsere kunden",
    "zukunft erleben",
];

/// From how many such phrases on a text is an advertisement as a whole.
const MANY: usize = 2;

/// Whether a text sells something.
pub(crate) fn is_promotion(text: &str) -> bool {
    let lower = text.to_lowercase();
    PHRASES.iter().any(|phrase| lower.contains(phrase))
}

/// Whether a longer text does so throughout, so that its other sentences are claims of the seller.
pub(crate) fn is_advertisement(text: &str) -> bool {
    let lower = text.to_lowercase();
    let found = PHRASES.iter().filter(|phrase| lower.contains(*phrase)).count();
    // A long text may quote a slogan.
    found >= MANY.max(lower.len() / 1_000)
}
