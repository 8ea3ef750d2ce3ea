//! What elements say about their content by tag, class, id and role.

use std::collections::HashMap;
use std::sync::OnceLock;

use html5ever::local_name;

use crate::html::tree::{Id, Tree};

/// A set of categories, one bit each.
pub(super) type Categories = u64;

/// The number of categories.
pub(super) const CATEGORIES: usize = NAMES.len();

/// The category of comments.
pub(super) const COMMENT: usize = 28;

/// Attributes in which frameworks name components.
const DATA: [&str; 4] = ["data-testid", "data-component", "data-section", "data-block"];

/// Values longer than this are data, not names.
const LONGEST: usize = 200;

/// The categories by bit; the first ones come from tags.
pub(super) const NAMES: [&str; 52] = [
    "tag_nav",
    "tag_header",
    "tag_footer",
    "tag_aside",
    "tag_main",
    "tag_article",
    "tag_section",
    "tag_form",
    "tag_table",
    "tag_list",
    "tag_item",
    "tag_figure",
    "tag_quote",
    "tag_details",
    "tag_dialog",
    "tag_button",
    "tag_select",
    "tag_paragraph",
    "tag_definition",
    "tag_cell",
    "nav",
    "breadcrumb",
    "footer",
    "header",
    "sidebar",
    "related",
    "ad",
    "share",
    "comment",
    "popup",
    "subscribe",
    "meta",
    "tags",
    "pagination",
    "filter",
    "body",
    "article",
    "product",
    "action",
    "forum",
    "review",
    "list",
    "title",
    "toc",
    "user",
    "hidden",
    "media",
    "tab",
    "locale",
    "spec",
    "price",
    "help",
];

/// Words of classes, ids and roles, by category. A word may be in several.
const WORDS: [(&str, &str); 32] = [
    (
        "nav",
        "nav navbar navigation menu menubar submenu megamenu topbar toolbar menus topnav subnav navi dropdown burger hamburger skip",
    ),
    ("breadcrumb", "breadcrumb breadcrumbs crumb crumbs"),
    ("footer", "footer foot bottom colophon copyright legal footnav site-footer foot-note"),
    ("header", "header masthead banner topbar head top announcement marquee"),
    (
        "sidebar",
        "sidebar side aside rail complementary widget widgets secondary sidenav sticky panel-right col-right",
    ),
    (
        "related",
        "related recommend recommended recommendation recommendations similar more also upsell upsells crosssell recirc recirculation trending popular latest suggested suggestions outbrain taboola readmore next featured recent you might explore teaser promo",
    ),
    (
        "ad",
        "ad ads advert advertisement advertising adsense sponsor sponsored sponsors promo promotion promotions dfp gpt adunit advertorial partner partners affiliate",
    ),
    (
        "share",
        "share sharing shares social socials follow addthis sharethis facebook twitter pinterest whatsapp linkedin instagram youtube",
    ),
    (
        "comment",
        "comment comments commentlist reply replies disqus respond discussion commenting remark livefyre coral viafoura spotim openweb hyvor kommentar kommentare commentaire commentaires comentario comentarios commenti reacties usercomments trackback trackbacks pingback",
    ),
    (
        "popup",
        "popup modal overlay dialog lightbox cookie cookies consent gdpr paywall toast tooltip popover notification notice alert drawer offcanvas flyout interstitial onetrust banner",
    ),
    (
        "subscribe",
        "newsletter subscribe subscription signup signin login register optin mailchimp email donate membership member account form",
    ),
    (
        "meta",
        "meta metadata byline author authors date time published posted timestamp datetime bio info updated dateline credit",
    ),
    ("tags", "tag tags taglist categories category keywords topics topic labels label terms"),
    (
        "pagination",
        "pagination pager paging prev previous next pages paginate page-numbers loadmore",
    ),
    (
        "filter",
        "search filter filters facet facets sort sorting refine refinement refinements searchbox searchform select options dropdown toolbar",
    ),
    (
        "body",
        "content body text copy prose richtext rte wysiwyg description markdown paragraph description paragraphs bodytext articlebody entry-content main maincontent summary abstract md",
    ),
    (
        "article",
        "article articles story stories post posts entry blog news editorial hentry essay chapter section",
    ),
    (
        "product",
        "product products item items shop store goods sku catalog catalogue merchandise variant variants pdp plp woocommerce collection",
    ),
    (
        "action",
        "cart basket checkout wishlist btn button buttons cta action actions buy add quantity qty favorite favourite vote votes like likes bookmark save print download toggle controls control",
    ),
    (
        "forum",
        "thread topic message messages forum forums answer answers question questions post posts postbody bbp discourse reply poster lia qa",
    ),
    ("review", "review reviews rating ratings testimonial testimonials stars star feedback"),
    (
        "list",
        "card cards grid list listing listings results result row tile tiles teaser feed carousel slider swiper slick gallery slide items columns archive loop",
    ),
    (
        "title",
        "title headline heading hero intro jumbotron subtitle lead lede standfirst deck caption excerpt dek",
    ),
    ("toc", "toc contents outline anchor anchors tableofcontents jump index onthispage"),
    (
        "user",
        "user users avatar profile signature sig badge badges reputation rank username nickname member membership joined location poster",
    ),
    (
        "hidden",
        "sr visually hidden screen reader offscreen noprint invisible hide mobile desktop hiddenmobile",
    ),
    (
        "media",
        "caption figcaption media image images photo photos video videos thumbnail thumb picture player audio podcast icon svg logo",
    ),
    (
        "tab",
        "accordion tab tabs panel panels tabpanel collapse collapsible faq faqs toggle tablist details expander",
    ),
    (
        "locale",
        "language languages lang locale locales country countries region currency store-selector translate translations",
    ),
    (
        "spec",
        "spec specs specification specifications features feature attributes attribute details detail table properties parameters benefits highlights ingredients overview",
    ),
    (
        "price",
        "price prices pricing amount cost currency money sale discount shipping delivery stock availability inventory",
    ),
    (
        "help",
        "help support contact feedback helpful report edit disclaimer terms privacy policy trust guarantee warranty returns",
    ),
];

/// Looks up the categories of elements.
pub(super) struct Categorizer {
    words: HashMap<&'static str, Categories>,
}

impl Categorizer {
    pub(super) fn shared() -> &'static Self {
        static SHARED: OnceLock<Categorizer> = OnceLock::new();
        SHARED.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut words = HashMap::new();
        for (category, list) in WORDS {
            let bit = NAMES.iter().position(|name| *name == category).map_or(0, |at| 1 << at);
            for word in list.split(' ') {
                *words.entry(word).or_default() |= bit;
            }
        }
        Self { words }
    }

    /// The categories of an element. Those of `html` and `body` describe the page and are left out.
    pub(super) fn of(&self, tree: &Tree, node: Id) -> Categories {
        let mut found = of_tag(tree, node);
        if matches!(*tree.name(node), local_name!("html") | local_name!("body")) {
            return found;
        }
        for (name, value) in tree.attributes(node) {
            match *name {
                local_name!("role") => found |= of_role(value),
                local_name!("class")
                | local_name!("id")
                | local_name!("itemprop")
                | local_name!("itemtype")
                | local_name!("aria-label") => {}
                ref other if DATA.contains(&&**other) => {}
                _ => continue,
            }
            if value.len() <= LONGEST {
                for_each_word(value, |word| {
                    found |= self.words.get(word).copied().unwrap_or_default();
                });
            }
        }
        found
    }
}

fn bit(name: usize) -> Categories {
    1 << name
}

fn of_tag(tree: &Tree, node: Id) -> Categories {
    match *tree.name(node) {
        local_name!("nav") => bit(0),
        local_name!("header") => bit(1),
        local_name!("footer") => bit(2),
        local_name!("aside") => bit(3),
        local_name!("main") => bit(4),
        local_name!("article") => bit(5),
        local_name!("section") => bit(6),
        local_name!("form") => bit(7),
        local_name!("table") => bit(8),
        local_name!("ul") | local_name!("ol") | local_name!("menu") => bit(9),
        local_name!("li") => bit(10),
        local_name!("figure") | local_name!("figcaption") => bit(11),
        local_name!("blockquote") => bit(12),
        local_name!("details") | local_name!("summary") => bit(13),
        local_name!("dialog") => bit(14),
        local_name!("button") => bit(15),
        local_name!("select") | local_name!("option") => bit(16),
        local_name!("p") => bit(17),
        local_name!("dl") | local_name!("dt") | local_name!("dd") => bit(18),
        local_name!("td") | local_name!("th") => bit(19),
        _ => 0,
    }
}

fn of_role(role: &str) -> Categories {
    match role {
        "navigation" | "menu" | "menubar" => bit(0),
        "banner" => bit(1),
        "contentinfo" => bit(2),
        "complementary" => bit(3),
        "main" => bit(4),
        "article" => bit(5),
        "search" | "form" => bit(7),
        "list" => bit(9),
        "listitem" => bit(10),
        "dialog" | "alertdialog" => bit(14),
        "button" => bit(15),
        "listbox" | "option" => bit(16),
        _ => 0,
    }
}

/// Calls `each` with the words of a name in lower case: `postBody main-text` has four.
fn for_each_word(value: &str, mut each: impl FnMut(&str)) {
    let mut word = String::new();
    let mut last = ' ';
    for character in value.chars() {
        let ends = !character.is_ascii_alphabetic()
            || character.is_ascii_uppercase() && last.is_ascii_lowercase();
        if ends && !word.is_empty() {
            each(&word);
            word.clear();
        }
        if character.is_ascii_alphabetic() {
            word.push(character.to_ascii_lowercase());
        }
        last = character;
    }
    if !word.is_empty() {
        each(&word);
    }
}
