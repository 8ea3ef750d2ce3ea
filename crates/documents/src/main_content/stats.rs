//! Counts over the text of a block.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use crate::html::block::{Block, Format};

/// Words of buttons, legal notes and calls to action.
const PHRASES: [&str; 70] = [
    "share",
    "subscribe",
    "login",
    "log",
    "sign",
    "cookie",
    "cookies",
    "privacy",
    "terms",
    "newsletter",
    "follow",
    "menu",
    "search",
    "skip",
    "cart",
    "checkout",
    "wishlist",
    "reply",
    "report",
    "like",
    "likes",
    "next",
    "previous",
    "prev",
    "related",
    "recommended",
    "advertisement",
    "sponsored",
    "copyright",
    "reserved",
    "more",
    "view",
    "show",
    "hide",
    "filter",
    "filters",
    "sort",
    "compare",
    "add",
    "facebook",
    "twitter",
    "instagram",
    "linkedin",
    "pinterest",
    "youtube",
    "email",
    "print",
    "comment",
    "comments",
    "home",
    "contact",
    "about",
    "help",
    "support",
    "account",
    "register",
    "close",
    "back",
    "load",
    "click",
    "here",
    "shop",
    "buy",
    "download",
    "quick",
    "save",
    "edit",
    "get",
    "app",
    "join",
];

/// Words of headings above what is not the page's own content.
const OTHER: [&str; 44] = [
    "related",
    "recommended",
    "similar",
    "more",
    "also",
    "popular",
    "trending",
    "latest",
    "recent",
    "share",
    "subscribe",
    "newsletter",
    "follow",
    "comments",
    "comment",
    "reply",
    "leave",
    "tags",
    "categories",
    "archives",
    "links",
    "menu",
    "navigation",
    "search",
    "sponsored",
    "advertisement",
    "featured",
    "viewed",
    "bought",
    "customers",
    "newsletters",
    "contact",
    "connect",
    "social",
    "join",
    "stay",
    "sign",
    "about",
    "author",
    "company",
    "support",
    "legal",
    "next",
    "explore",
];

/// Further words of such headings, in several languages.
const OTHER_LANGUAGES: &str = "responses discussion conversation opinions recommendations suggested stories picks promoted \
    discover trackbacks pingbacks topics tagged filed disclosure sponsor kommentare kommentar verwandte ähnliche weitere \
    mehr meistgelesen beliebt empfohlen themen anzeige newsletter commentaires commentaire connexes similaires aussi lire \
    recommandés populaires comentarios comentario relacionados relacionadas relacionado similares también leer más \
    recomendados comentários comentar relacionadas leia também mais commenti correlati leggi anche articoli reacties \
    gerelateerd lees ook meer komentarze powiązane zobacz także czytaj kommentarer relaterade комментарии похожие читайте \
    также новости теме コメント 関連記事 関連 おすすめ 评论 相关 推荐 댓글 관련";

/// Words of a short block.
const SHORT: f32 = 8.0;

/// Words that invite to reply to a comment.
const REPLIES: &str = "reply replies respond permalink upvote downvote flag report antworten répondre responder rispondi \
    reageer odpowiedz svara ответить 返信 回复 답글";

/// Words of ages.
const AGES: &str = "ago yesterday minutes hours days weeks vor stunden minuten tagen heures jours hace horas días fa ore \
    giorni назад";

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Stats {
    pub(super) words: f32,
    pub(super) alphanumerics: f32,
    pub(super) link_density: f32,
    pub(super) sentences: f32,
    pub(super) commas: f32,
    pub(super) digits: f32,
    pub(super) capitals: f32,
    pub(super) symbols: f32,
    pub(super) ends_sentence: bool,
    pub(super) starts_capital: bool,
    pub(super) links: f32,
    pub(super) strong: f32,
    pub(super) price: bool,
    pub(super) year: bool,
    pub(super) copyright: bool,
    pub(super) at_sign: bool,
    /// The share of words that are typical of buttons and notices.
    pub(super) phrases: f32,
    /// The share of words that introduce other content.
    pub(super) other: f32,
    /// The share of words that are also in the title of the page.
    pub(super) title: f32,
    /// Whether a short block asks for a reply, as below comments.
    pub(super) reply: bool,
    /// Whether a short block says how old something is.
    pub(super) age: bool,
}

impl Stats {
    /// Whether the block is a sentence or more, and no list of links.
    pub(super) fn is_prose(&self) -> bool {
        self.words >= 12.0 && self.link_density < 0.35
    }
}

/// The lists in which a word is.
#[derive(Debug, Default, Clone, Copy)]
struct Listed {
    phrase: bool,
    other: bool,
    reply: bool,
    age: bool,
}

fn listed() -> &'static HashMap<&'static str, Listed> {
    static WORDS: OnceLock<HashMap<&'static str, Listed>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let mut words: HashMap<&str, Listed> = HashMap::new();
        for word in PHRASES {
            words.entry(word).or_default().phrase = true;
        }
        for word in OTHER.into_iter().chain(OTHER_LANGUAGES.split_whitespace()) {
            words.entry(word).or_default().other = true;
        }
        for word in REPLIES.split_whitespace() {
            words.entry(word).or_default().reply = true;
        }
        for word in AGES.split_whitespace() {
            words.entry(word).or_default().age = true;
        }
        words
    })
}

/// The word lists, and the words of the title.
pub(super) struct Lexicon {
    listed: &'static HashMap<&'static str, Listed>,
    title: HashSet<String>,
}

impl Lexicon {
    pub(super) fn new(title: &str) -> Self {
        let title = title.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        Self { listed: listed(), title: title.filter(|word| !word.is_empty()).collect() }
    }

    pub(super) fn count(&self, block: &Block) -> Stats {
        let text = block.text.as_str();
        let mut stats = Stats::default();
        let (mut alphanumerics, mut digits, mut capitals, mut symbols, mut spaces) =
            (0, 0, 0, 0, 0);
        let (mut words, mut wide) = (0_usize, 0_usize);
        let mut in_word = false;
        let mut last = ' ';
        for character in text.chars() {
            let alphanumeric = character.is_alphanumeric();
            if alphanumeric {
                alphanumerics += 1;
                digits += usize::from(character.is_ascii_digit());
                capitals += usize::from(character.is_uppercase());
                wide += usize::from(is_wide(character));
                words += usize::from(!in_word);
            } else if character.is_whitespace() {
                spaces += 1;
                if matches!(last, '.' | '!' | '?') {
                    stats.sentences += 1.0;
                }
            } else {
                symbols += 1;
                match character {
                    ',' | ';' | '、' | '，' => stats.commas += 1.0,
                    '。' => stats.sentences += 1.0,
                    '$' | '€' | '£' | '¥' | '₹' => stats.price = true,
                    '©' => stats.copyright = true,
                    '@' => stats.at_sign = true,
                    _ => {}
                }
            }
            in_word = alphanumeric;
            last = character;
        }
        // Scripts without spaces: two characters are about a word.
        let words = words + wide / 2;
        stats.ends_sentence = matches!(last, '.' | '!' | '?' | ':' | '。' | '"' | '”' | '…');
        stats.sentences += f32::from(u8::from(matches!(last, '.' | '!' | '?')));
        let first = text.chars().find(|c| c.is_alphanumeric());
        stats.starts_capital = first.is_some_and(char::is_uppercase);
        let total = (alphanumerics + symbols + spaces).max(1) as f32;
        stats.words = words as f32;
        stats.alphanumerics = alphanumerics as f32;
        stats.digits = digits as f32 / total;
        stats.capitals = capitals as f32 / total;
        stats.symbols = symbols as f32 / total;
        stats.link_density = (block.linked as f32 / text.len().max(1) as f32).min(1.0);
        for span in &block.spans {
            match span.format {
                Format::Link(_) => stats.links += 1.0,
                Format::Strong => stats.strong += (span.end - span.start) as f32,
                Format::Emphasis | Format::Code | Format::Superscript => {}
            }
        }
        stats.strong = (stats.strong / text.len().max(1) as f32).min(1.0);
        if words <= 40 {
            self.look_up(text, &mut stats);
        }
        stats
    }

    fn look_up(&self, text: &str, stats: &mut Stats) {
        let (mut all, mut phrases, mut other, mut title) = (0.0_f32, 0.0, 0.0, 0.0);
        let (mut reply, mut age) = (false, false);
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let word = word.to_lowercase();
            all += 1.0;
            let listed = self.listed.get(word.as_str()).copied().unwrap_or_default();
            phrases += f32::from(u8::from(listed.phrase));
            other += f32::from(u8::from(listed.other));
            reply |= listed.reply;
            age |= listed.age;
            title += f32::from(u8::from(self.title.contains(&word)));
            stats.year |= word.len() == 4
                && (word.starts_with("19") || word.starts_with("20"))
                && word.bytes().all(|byte| byte.is_ascii_digit());
            stats.copyright |= word == "copyright";
        }
        stats.reply = reply && all <= SHORT;
        stats.age = age && all <= SHORT;
        let all = all.max(1.0);
        (stats.phrases, stats.other, stats.title) = (phrases / all, other / all, title / all);
    }
}

/// Whether a character is of a script that has no spaces between words.
fn is_wide(character: char) -> bool {
    matches!(character as u32, 0x0E00..=0x0EFF | 0x3040..=0x30FF | 0x3400..=0x9FFF | 0xF900..=0xFAFF)
}
