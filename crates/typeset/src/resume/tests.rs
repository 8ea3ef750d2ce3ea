use super::{PartKind, Resume, ResumePart, ResumeSection, ResumeTemplate, fit_resume};
use crate::{PageSize, TypesetError};

fn part(kind: PartKind, text: &str, drop_order: Option<usize>) -> ResumePart {
    ResumePart { kind, text: text.to_owned(), dates: "2018 – 2021".to_owned(), drop_order }
}

/// Positions with bullets, of which the last is left out first.
fn resume(positions: usize, bullets: usize) -> Resume {
    let mut parts = Vec::new();
    for position in 0..positions {
        parts.push(part(PartKind::Dated, &format!("Engineer, Company {position}"), None));
        for bullet in 0..bullets {
            let order = positions * bullets - 1 - (position * bullets + bullet);
            parts.push(part(PartKind::Bullet, "Ran a system that many people used", Some(order)));
        }
    }
    Resume {
        name: "Mara #import \"x\" Lindqvist".to_owned(),
        headline: "Engineer $x$ @y <z>".to_owned(),
        contact: vec!["[mara@example.org](mailto:mara@example.org)".to_owned(), "Leeds".to_owned()],
        sections: vec![ResumeSection { heading: "Experience".to_owned(), parts }],
        language: None,
    }
}

#[test]
fn a_short_resume_is_set_whole_in_every_template() {
    for template in [ResumeTemplate::Classic, ResumeTemplate::Compact, ResumeTemplate::Plain] {
        let fitted = fit_resume(&resume(2, 3), template, PageSize::A4, 1).expect("a PDF");
        assert_eq!((fitted.pdf.pages, fitted.dropped_below), (1, 0), "{template:?}");
        assert_eq!(fitted.pdf.warnings, Vec::<String>::new());
    }
}

#[test]
fn as_few_parts_as_needed_are_left_out() {
    let long = resume(8, 10);
    let whole = fit_resume(&long, ResumeTemplate::Classic, PageSize::A4, 4).expect("a PDF");
    assert_eq!(whole.dropped_below, 0);
    assert!(whole.pdf.pages > 1, "{} pages", whole.pdf.pages);
    let fitted = fit_resume(&long, ResumeTemplate::Classic, PageSize::A4, 1).expect("a PDF");
    assert_eq!(fitted.pdf.pages, 1);
    assert!((1..80).contains(&fitted.dropped_below), "{}", fitted.dropped_below);
    // With one part more it would not fit.
    let mut more = long.clone();
    let orders = more.sections[0].parts.iter_mut();
    orders.for_each(|part| {
        part.drop_order = part.drop_order.filter(|order| order + 1 < fitted.dropped_below);
    });
    let refused = fit_resume(&more, ResumeTemplate::Classic, PageSize::A4, 1);
    assert_eq!(refused.expect_err("too many lines").kind(), "too_large");
}

#[test]
fn required_parts_are_never_dropped() {
    let refused = fit_resume(&resume(90, 1), ResumeTemplate::Compact, PageSize::A4, 1);
    let limit = TypesetError::TooLarge { what: "pages that cannot be shortened", limit: 1 };
    assert_eq!(refused, Err(limit));
    let refused = fit_resume(&resume(5_001, 0), ResumeTemplate::Compact, PageSize::A4, 1);
    assert_eq!(refused.expect_err("too many lines").kind(), "too_large");
}
