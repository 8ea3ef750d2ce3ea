//! What a page says about its own kind.

use html5ever::local_name;

use super::linked_data::LinkedData;
use super::tree::Tree;

/// Which kinds of page its metadata names.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Hints {
    pub(crate) article: bool,
    pub(crate) product: bool,
    pub(crate) list: bool,
    pub(crate) forum: bool,
    pub(crate) website: bool,
}

impl Hints {
    pub(super) fn find(tree: &Tree, data: &LinkedData) -> Self {
        let mut hints = Self::default();
        for node in tree.elements() {
            if *tree.name(node) == local_name!("meta")
                && tree.attribute(node, &local_name!("property")) == Some("og:type")
            {
                hints.open_graph(tree.attribute(node, &local_name!("content")).unwrap_or_default());
            }
            if let Some(kind) = tree.attribute(node, &local_name!("itemtype")) {
                hints.schema(kind.rsplit('/').next().unwrap_or_default());
            }
        }
        for kind in data.kinds() {
            hints.schema(kind);
        }
        hints
    }

    fn open_graph(&mut self, kind: &str) {
        match kind {
            "article" => self.article = true,
            "website" => self.website = true,
            kind if kind.contains("product") => self.product = true,
            _ => {}
        }
    }

    fn schema(&mut self, kind: &str) {
        match kind {
            "Article" | "NewsArticle" | "BlogPosting" | "TechArticle" | "ScholarlyArticle"
            | "Report" | "Recipe" => self.article = true,
            "Product" | "ProductGroup" | "IndividualProduct" => self.product = true,
            "ItemList" | "CollectionPage" | "SearchResultsPage" | "ProductCollection"
            | "OfferCatalog" => self.list = true,
            "DiscussionForumPosting" | "QAPage" | "Question" | "Answer" => self.forum = true,
            _ => {}
        }
    }
}
