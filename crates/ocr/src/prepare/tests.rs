//! Pictures of made-up characters: bars with ascenders on a baseline, as Latin text has them.

use proptest::prelude::{prop_assert, proptest};

use super::{Prepared, prepare_picture};
use crate::grey::{Grey, Turn};
use crate::warp;

/// Six lines of bars of 14 pixels; every third has an ascender, every tenth a descender.
fn page() -> Grey {
    let (width, height) = (620, 300);
    let mut pixels = vec![255; width * height];
    for line in 0..6 {
        let base = 50 + line * 40;
        for index in 0..40 {
            // Words of five characters.
            let left = 30 + index * 14 - (index / 5) * 2 + if index % 5 == 0 { 0 } else { 1 };
            let top = base - if index % 3 == 0 { 20 } else { 14 };
            let bottom = base + if index % 10 == 7 { 6 } else { 0 };
            for y in top..bottom {
                pixels[y * width + left..y * width + left + 7].fill(0);
            }
        }
    }
    Grey::new(width, height, pixels)
}

fn prepared(picture: Grey) -> Prepared {
    prepare_picture(picture, false)
}

#[test]
fn turned_pages_are_made_upright() {
    for (turn, expected) in
        [(Turn::None, 0), (Turn::Quarter, 270), (Turn::Half, 180), (Turn::ThreeQuarters, 90)]
    {
        let (turned, _) = page().turned(turn);
        let (width, height) = (turned.width(), turned.height());
        let ready = prepared(turned);
        assert_eq!(ready.report.rotation, expected, "{turn:?}");
        assert!(ready.report.certain, "{turn:?}");
        assert_eq!((ready.report.width, ready.report.height), (width, height));
        assert_eq!((ready.picture.width(), ready.picture.height()), (620, 300));
    }
}

#[test]
fn places_lead_back_to_the_picture_as_it_came() {
    for turn in Turn::ALL {
        let (turned, to_page) = page().turned(turn);
        let ready = prepared(turned);
        // The page is upright again: its corner is that of the page.
        let there = to_page.apply(ready.report.origin.apply((30.0, 36.0)));
        assert!((there.0 - 30.0).abs() < 1.0 && (there.1 - 36.0).abs() < 1.0, "{turn:?} {there:?}");
    }
}

#[test]
fn skewed_pages_are_straightened() {
    for skew in [-7.0, -2.0, 1.0, 5.0f64] {
        let (skewed, _) = super::straightened(&page(), -skew, 1.0);
        let found = prepared(skewed).report.skew;
        assert!((found - skew).abs() < 0.4, "{skew}: {found}");
    }
}

#[test]
fn light_text_on_dark_is_inverted() {
    let dark = page().pixels().iter().map(|shade| 255 - shade).collect();
    let ready = prepared(Grey::new(620, 300, dark));
    assert!(ready.report.inverted);
    assert_eq!(ready.picture, prepared(page()).picture);
    assert!(!prepared(page()).report.inverted);
}

#[test]
fn shading_and_low_contrast_are_removed() {
    let clean = page();
    let shaded = clean.pixels().iter().enumerate().map(|(at, shade)| {
        let light = 120 + (at / 620) * 120 / 300;
        u8::try_from((usize::from(*shade) / 2 + 100) * light / 255).unwrap_or(255)
    });
    let ready = prepared(Grey::new(620, 300, shaded.collect()));
    let dark = ready.picture.pixels().iter().filter(|shade| **shade < 60).count();
    let light = ready.picture.pixels().iter().filter(|shade| **shade > 200).count();
    let ink = page().pixels().iter().filter(|shade| **shade == 0).count();
    assert!(dark.abs_diff(ink) * 20 < ink, "{dark} of {ink}");
    assert!(dark + light > 620 * 300 * 95 / 100, "{dark} {light}");
}

#[test]
fn specks_are_removed_and_clean_pictures_stay() {
    let mut noisy = page();
    for at in (0..620 * 300).step_by(97) {
        noisy.pixels_mut()[at] ^= 255;
    }
    let ready = prepared(noisy);
    assert!(ready.report.noisy);
    let clean = page();
    let wrong = ready.picture.pixels().iter().zip(clean.pixels());
    let wrong = wrong.filter(|(one, other)| one.abs_diff(**other) > 127).count();
    // Those that touch a character stay.
    assert!(wrong * 6 < 620 * 300 / 97, "{wrong}");
    assert!(!prepared(page()).report.noisy);
}

#[test]
fn small_text_is_enlarged() {
    let (small, _) = warp::shrink(&page(), 0.5);
    let ready = prepare_picture(small, true);
    assert!(ready.report.character_height > 16.0, "{}", ready.report.character_height);
    assert!(ready.picture.width() > 700, "{}", ready.picture.width());
}

#[test]
fn a_picture_of_one_thing_is_not_reduced_to_nothing() {
    let mut blot = Grey::filled(2000, 1000, 255);
    for y in 100..900 {
        blot.pixels_mut()[y * 2000 + 100..y * 2000 + 1900].fill(0);
    }
    let ready = prepare_picture(blot, true);
    assert!(ready.picture.width() >= 400, "{}", ready.picture.width());
}

#[test]
fn rows_of_dashes_are_counted_and_taken_out() {
    let mut page = page();
    for dash in 0..12 {
        for y in 290..292 {
            let left = y * 620 + 40 + dash * 13;
            page.pixels_mut()[left..left + 8].fill(0);
        }
    }
    let ready = prepared(page);
    assert_eq!(ready.report.dashes.len(), 1);
    assert_eq!((ready.report.dashes[0].count, ready.report.dashes[0].sign), (12, '-'));
    assert!(ready.picture.row(290).iter().all(|shade| *shade == 255));
}

#[test]
fn rules_are_found_in_both_directions() {
    let mut page = page();
    for x in 20..600 {
        page.pixels_mut()[280 * 620 + x] = 0;
        page.pixels_mut()[281 * 620 + x] = 0;
    }
    for y in 20..283 {
        page.pixels_mut()[y * 620 + 10] = 0;
    }
    let rules = prepared(page).report.rules;
    let level: Vec<_> = rules.iter().filter(|rule| !rule.vertical).collect();
    let upright: Vec<_> = rules.iter().filter(|rule| rule.vertical).collect();
    assert_eq!((level.len(), upright.len()), (1, 1), "{rules:?}");
    assert_eq!((level[0].left, level[0].top, level[0].right), (20, 280, 600));
    assert_eq!((upright[0].left, upright[0].top, upright[0].bottom), (10, 20, 283));
}

proptest! {
    #[test]
    fn any_picture_is_prepared(width in 1usize..60, height in 1usize..60, seed in 0u32..1000) {
        let mut state = seed;
        let pixels = (0..width * height).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        let ready = prepare_picture(Grey::new(width, height, pixels.collect()), true);
        prop_assert!(ready.picture.width() > 0 && ready.picture.height() > 0);
        let turned = ready.clone().upside_down().upside_down();
        prop_assert!(turned.picture == ready.picture && turned.report.rotation == ready.report.rotation);
    }
}
