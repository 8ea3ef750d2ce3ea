//! What the elements of HTML mean for the text within them.

use html5ever::{LocalName, local_name};

use super::tree::{Id, Tree};

/// The effect of an element on the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Its content is not text of the page.
    Nothing,
    /// An element that does not change the text within.
    Plain,
    Break,
    /// It begins and ends a block.
    Block,
    Heading(u8),
    Quote,
    List,
    Item,
    Table,
    Row,
    Cell,
    /// White space within counts.
    Verbatim,
    Link,
    Strong,
    Emphasis,
    Code,
    Superscript,
}

pub(super) fn role(tree: &Tree, node: Id) -> Role {
    let name = tree.name(node);
    match *name {
        local_name!("template") if is_shadow_root(tree, node) => Role::Block,
        ref name => of_name(name),
    }
}

/// The content of such a template is shown as that of the element around it.
fn is_shadow_root(tree: &Tree, node: Id) -> bool {
    tree.attribute(node, &local_name!("shadowrootmode"))
        .is_some_and(|mode| ["open", "closed"].iter().any(|known| mode.eq_ignore_ascii_case(known)))
}

fn of_name(name: &LocalName) -> Role {
    match *name {
        local_name!("script")
        | local_name!("style")
        | local_name!("template")
        | local_name!("noscript")
        | local_name!("head")
        | local_name!("iframe")
        | local_name!("object")
        | local_name!("svg")
        | local_name!("canvas")
        | local_name!("audio")
        | local_name!("video")
        | local_name!("noembed")
        | local_name!("noframes")
        | local_name!("datalist")
        | local_name!("rp")
        | local_name!("annotation")
        | local_name!("annotation-xml") => Role::Nothing,
        local_name!("br") => Role::Break,
        local_name!("h1") => Role::Heading(1),
        local_name!("h2") => Role::Heading(2),
        local_name!("h3") => Role::Heading(3),
        local_name!("h4") => Role::Heading(4),
        local_name!("h5") => Role::Heading(5),
        local_name!("h6") => Role::Heading(6),
        local_name!("ul") | local_name!("ol") | local_name!("menu") => Role::List,
        local_name!("li") => Role::Item,
        local_name!("table") => Role::Table,
        local_name!("tr") => Role::Row,
        local_name!("td") | local_name!("th") => Role::Cell,
        local_name!("pre") | local_name!("textarea") => Role::Verbatim,
        local_name!("a") => Role::Link,
        local_name!("b") | local_name!("strong") => Role::Strong,
        local_name!("i") | local_name!("em") => Role::Emphasis,
        local_name!("code") | local_name!("kbd") | local_name!("samp") | local_name!("tt") => {
            Role::Code
        }
        local_name!("sup") => Role::Superscript,
        local_name!("blockquote") => Role::Quote,
        local_name!("address")
        | local_name!("article")
        | local_name!("aside")
        | local_name!("body")
        | local_name!("button")
        | local_name!("caption")
        | local_name!("center")
        | local_name!("dd")
        | local_name!("details")
        | local_name!("dialog")
        | local_name!("div")
        | local_name!("dl")
        | local_name!("dt")
        | local_name!("fieldset")
        | local_name!("figcaption")
        | local_name!("figure")
        | local_name!("footer")
        | local_name!("form")
        | local_name!("header")
        | local_name!("hgroup")
        | local_name!("hr")
        | local_name!("legend")
        | local_name!("main")
        | local_name!("nav")
        | local_name!("optgroup")
        | local_name!("option")
        | local_name!("p")
        | local_name!("section")
        | local_name!("select")
        | local_name!("summary")
        | local_name!("tbody")
        | local_name!("tfoot")
        | local_name!("thead") => Role::Block,
        // Elements of a page's own making are nearly always blocks.
        ref other if other.contains('-') => Role::Block,
        _ => Role::Plain,
    }
}
