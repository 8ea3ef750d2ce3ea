use super::*;

#[test]
fn people_choose_no_code_and_share_no_process() {
    let with = |name: &str| Personal {
        env: [(name.to_owned(), PersonalSecret { secret: "s".to_owned(), prefix: String::new() })]
            .into(),
        ..Personal::default()
    };
    for name in ["LD_PRELOAD", "ld_preload", "NODE_OPTIONS", "PYTHONPATH", "PATH", "BASH_ENV"] {
        assert_eq!(with(name).check(false).map_err(|(key, _)| key), Err("env"), "{name}");
    }
    assert_eq!(with("API_KEY").check(false), Ok(()));
    assert_eq!(with("API_KEY").check(true).map_err(|(key, _)| key), Err("instances"));
    assert_eq!(Personal::default().check(true), Ok(()));
}
