//! The platforms, and the published table of their limits.

use serde::{Deserialize, Serialize};

/// Where a creative is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Platform {
    Instagram,
    Tiktok,
    X,
    Linkedin,
    Facebook,
    Youtube,
    Generic,
}

/// What a platform takes and shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// The longest text; `None` if there is no limit.
    pub limit: Option<usize>,
    /// How many characters are shown before "see more"; `None` if all are.
    pub shown: Option<usize>,
    /// The lengths that get full marks.
    pub best_length: (usize, usize),
    /// The numbers of hashtags that get full marks.
    pub hashtags: (usize, usize),
    /// Whether links in the text can be clicked.
    pub links: bool,
    /// The shapes of pictures, as width and height.
    pub aspects: &'static [(u32, u32)],
    /// Pictures should be at least this wide, in pixels.
    pub width: u32,
}

impl Platform {
    pub const ALL: [Self; 7] = [
        Self::Instagram,
        Self::Tiktok,
        Self::X,
        Self::Linkedin,
        Self::Facebook,
        Self::Youtube,
        Self::Generic,
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Instagram => "instagram",
            Self::Tiktok => "tiktok",
            Self::X => "x",
            Self::Linkedin => "linkedin",
            Self::Facebook => "facebook",
            Self::Youtube => "youtube",
            Self::Generic => "generic",
        }
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Instagram => "Instagram",
            Self::Tiktok => "TikTok",
            Self::X => "X",
            Self::Linkedin => "LinkedIn",
            Self::Facebook => "Facebook",
            Self::Youtube => "YouTube",
            Self::Generic => "this platform",
        }
    }

    /// Its limits. Where a platform shows more on some devices, the lower number is used.
    pub fn rules(self) -> Rules {
        match self {
            Self::Instagram => Rules {
                limit: Some(2200),
                shown: Some(125),
                best_length: (50, 500),
                hashtags: (1, 5),
                links: false,
                aspects: &[(4, 5), (1, 1), (3, 4), (191, 100), (9, 16)],
                width: 1080,
            },
            Self::Tiktok => Rules {
                limit: Some(4000),
                shown: Some(100),
                best_length: (30, 300),
                hashtags: (1, 5),
                links: false,
                aspects: &[(9, 16), (3, 4), (1, 1)],
                width: 720,
            },
            Self::X => Rules {
                limit: Some(280),
                shown: Some(280),
                best_length: (40, 240),
                hashtags: (0, 2),
                links: true,
                aspects: &[(16, 9), (1, 1), (4, 5), (191, 100)],
                width: 600,
            },
            Self::Linkedin => Rules {
                limit: Some(3000),
                shown: Some(210),
                best_length: (100, 1500),
                hashtags: (0, 5),
                links: true,
                aspects: &[(191, 100), (1, 1), (4, 5)],
                width: 627,
            },
            Self::Facebook => Rules {
                limit: Some(63_206),
                shown: Some(125),
                best_length: (40, 500),
                hashtags: (0, 3),
                links: true,
                aspects: &[(1, 1), (4, 5), (191, 100), (9, 16), (16, 9)],
                width: 600,
            },
            Self::Youtube => Rules {
                limit: Some(5000),
                shown: Some(157),
                best_length: (100, 1500),
                hashtags: (0, 3),
                links: true,
                aspects: &[(16, 9), (9, 16)],
                width: 640,
            },
            Self::Generic => Rules {
                limit: None,
                shown: None,
                best_length: (40, 500),
                hashtags: (0, 5),
                links: true,
                aspects: &[(1, 1), (4, 5), (3, 4), (9, 16), (16, 9), (191, 100), (4, 3), (3, 2)],
                width: 600,
            },
        }
    }

    /// The rows of the published table, as Markdown.
    pub fn table() -> String {
        let mut rows = String::from(
            "| platform | limit | shown | full marks for a length of | hashtags | links in the text | pictures | width |\n|---|---|---|---|---|---|---|---|\n",
        );
        for platform in Self::ALL {
            let rules = platform.rules();
            let number = |value: Option<usize>| value.map_or("–".to_owned(), |n| n.to_string());
            rows += &format!(
                "| `{}` | {} | {} | {}–{} | {}–{} | {} | {} | {} |\n",
                platform.name(),
                number(rules.limit),
                number(rules.shown),
                rules.best_length.0,
                rules.best_length.1,
                rules.hashtags.0,
                rules.hashtags.1,
                if rules.links { "yes" } else { "no" },
                rules.shapes(),
                rules.width,
            );
        }
        rows
    }
}

impl Rules {
    /// The shapes of pictures, such as `4:5, 1.91:1`.
    pub fn shapes(&self) -> String {
        let shape = |(width, height): &(u32, u32)| match (width, height) {
            (width, 100) => format!("{}:1", f64::from(*width) / 100.0),
            _ => format!("{width}:{height}"),
        };
        self.aspects.iter().map(shape).collect::<Vec<_>>().join(", ")
    }
}
