//! What pages append to an article: comments, and the articles that follow it.

/// An article has at least so many words of prose: with less, what seems to follow may be the content.
const LEAST: f32 = 60.0;

/// Where each block of a page is.
pub(super) struct Appended {
    /// The block with the page's title.
    pub(super) title: Option<usize>,
    pub(super) in_comments: Vec<bool>,
    /// 1 in the `article` element with the title, 0 in another one, -1 in none.
    pub(super) of_article: Vec<f32>,
    pub(super) prose: Vec<bool>,
}

impl Appended {
    /// Sets the ratings of comments and of following articles to zero, if the page has an article without them.
    pub(super) fn rate_down(&self, words: &[f32], ratings: &mut [f32]) {
        let prose = |is_own: &dyn Fn(usize) -> bool| -> f32 {
            (0..words.len()).filter(|at| self.prose[*at] && is_own(*at)).map(|at| words[at]).sum()
        };
        if let Some(title) = self.title.filter(|title| !self.in_comments[*title])
            && prose(&|at| at > title && !self.in_comments[at]) >= LEAST
        {
            for (rating, is_comment) in ratings.iter_mut().zip(&self.in_comments) {
                if *is_comment {
                    *rating = 0.0;
                }
            }
        }
        let is_own = |at: usize| self.of_article[at] == 1.0;
        let Some(last) = (0..words.len()).rev().find(|at| is_own(*at)) else { return };
        if prose(&is_own) >= LEAST {
            for (rating, article) in ratings.iter_mut().zip(&self.of_article).skip(last + 1) {
                if *article == 0.0 {
                    *rating = 0.0;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Appended;

    const WORDS: [f32; 4] = [5.0, 80.0, 40.0, 90.0];

    fn rated(in_comments: [bool; 4], of_article: [f32; 4], prose: [bool; 4]) -> Vec<f32> {
        let appended = Appended {
            title: Some(0),
            in_comments: in_comments.to_vec(),
            of_article: of_article.to_vec(),
            prose: prose.to_vec(),
        };
        let mut ratings = vec![0.9; 4];
        appended.rate_down(&WORDS, &mut ratings);
        ratings
    }

    #[test]
    fn comments_and_following_articles_are_no_content() {
        let (prose, nowhere) = ([false, true, true, true], [-1.0; 4]);
        assert_eq!(rated([false, false, true, true], nowhere, prose), [0.9, 0.9, 0.0, 0.0]);
        assert_eq!(rated([false; 4], [1.0, 1.0, -1.0, 0.0], prose), [0.9, 0.9, 0.9, 0.0]);
        // An article before the page's own one may be its introduction.
        assert_eq!(rated([false; 4], [0.0, 0.0, 1.0, 1.0], prose), [0.9; 4]);
    }

    #[test]
    fn a_page_of_comments_only_stays() {
        let (prose, nowhere) = ([false, true, true, true], [-1.0; 4]);
        assert_eq!(rated([false, true, true, true], nowhere, prose), [0.9; 4]);
        assert_eq!(rated([true; 4], nowhere, prose), [0.9; 4]);
        assert_eq!(rated([false; 4], [1.0, -1.0, 0.0, 0.0], prose), [0.9; 4]);
    }
}
